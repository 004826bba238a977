package io.leafid;

import static io.leafid.Support.refused;
import static io.leafid.Support.vectors;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VectorsTest {
    private static final JsonNode SNOWFLAKE = vectors("snowflake.json");

    /** The layout of the vectors by its fields. */
    private static Layout layout(String name) {
        JsonNode fields = SNOWFLAKE.get("layouts").get(name);
        String bits = fields.get("timestamp_bits") + "|" + fields.get("worker_bits") + "|" + fields.get("sequence_bits");
        Layout layout = Layout.of(bits)
                .withTickMs(fields.get("tick_ms").asLong())
                .withEpochMs(fields.get("epoch_ms").asLong())
                .withSequenceFirst(fields.get("order").asText().equals("sequence-worker"));
        if (!name.contains("|")) assertEquals(layout, Layout.of(name));
        return layout;
    }

    @Test
    void composesAndDecodes() {
        assertTrue(SNOWFLAKE.get("valid").size() > 0);
        for (JsonNode row : SNOWFLAKE.get("valid")) {
            Layout layout = layout(row.get("layout").asText());
            long id = row.get("id").asLong();
            int workerId = row.get("worker_id").asInt();
            int sequence = row.get("sequence").asInt();
            assertEquals(id, layout.compose(row.get("timestamp_ms").asLong(), workerId, sequence));
            Parts parts = layout.decode(id);
            assertEquals(row.get("timestamp_ms").asLong(), parts.timestampMs());
            assertEquals(workerId, parts.workerId());
            assertEquals(sequence, parts.sequence());
        }
        for (JsonNode row : SNOWFLAKE.get("id_ranges")) {
            Layout layout = layout(row.get("layout").asText());
            assertEquals(row.get("first").asLong(), layout.firstIdAt(row.get("timestamp_ms").asLong()));
            assertEquals(row.get("last").asLong(), layout.lastIdAt(row.get("timestamp_ms").asLong()));
        }
        refused("invalid_argument", () -> Layout.LEAF.decode(-1));
        refused("invalid_argument", () -> Layout.of("41|10"));
        assertTrue(refused("invalid_argument", () -> Layout.of(null)).getMessage().startsWith("layout is null; allowed: "));
    }

    @Test
    void textsOfIds() {
        JsonNode texts = vectors("text_forms.json");
        for (JsonNode row : texts.get("valid")) {
            for (String form : new String[] {"decimal", "base32", "base62", "uuid"}) {
                assertEquals(row.get(form).asText(), Ids.format(row.get("id").asLong(), form));
                assertEquals(row.get("id").asLong(), Ids.parse(row.get(form).asText(), form));
            }
        }
        for (String refusals : new String[] {"refused", "refused_counted_text"}) {
            for (JsonNode row : texts.get(refusals)) {
                LeafidException error = refused("invalid_argument",
                        () -> Ids.parse(row.get("text").asText(), row.get("form").asText()));
                assertEquals(row.get("message").asText(), error.getMessage());
            }
        }
        assertTrue(refused("invalid_argument", () -> Ids.parse(null, "uuid")).getMessage().startsWith("text is null; allowed: "));
        assertTrue(refused("invalid_argument", () -> Ids.format(1, null)).getMessage().startsWith("form is null; allowed: "));
        refused("invalid_argument", () -> Ids.fromUuid(null));
        for (JsonNode row : vectors("uuids.json").get("valid")) {
            UUID uuid = UUID.fromString(row.get("uuid").asText());
            assertEquals(uuid, Ids.toUuid(row.get("id").asLong()));
            assertEquals(row.get("id").asLong(), Ids.fromUuid(uuid));
        }
    }

    /** A value as {@link Options#option} has it; null for one of a type that the option does not have in Java. */
    private static String[] texts(JsonNode value, String kind) {
        List<String> texts = new ArrayList<>();
        boolean isNumber = kind.equals("int") || kind.equals("id") || kind.equals("worker");
        if (isNumber && value.isIntegralNumber() || kind.equals("flag") && value.isBoolean()) texts.add(value.asText());
        else if (kind.matches("text|word|path|worker|layout|urls") && value.isTextual() || value.asText().equals("last-day")) {
            texts.add(value.asText());
        } else if (kind.matches("worker|urls|prewarm") && value.isArray()) {
            for (JsonNode each : value) texts.add(each.textValue());
        } else if (kind.equals("headers") && value.isObject()) {
            for (Map.Entry<String, JsonNode> each : value.properties()) {
                texts.add(each.getKey());
                texts.add(each.getValue().textValue());
            }
        } else {
            return null;
        }
        // Its lists have only texts.
        return texts.contains(null) ? null : texts.toArray(new String[0]);
    }

    private static String camel(String name) {
        return Pattern.compile("_(.)").matcher(name).replaceAll(part -> part.group(1).toUpperCase(Locale.ROOT));
    }

    private static Options<?> with(Options<?> options, String name, JsonNode value) {
        String[] texts = texts(value, options.kinds().get(camel(name)));
        return texts == null ? null : options.option(camel(name), texts);
    }

    private static Options<?> options(JsonNode row, Path dir) {
        Options<?> options = row.get("of").asText().equals("segments") ? Segments.builder().servers("http://127.0.0.1:1")
                : Snowflake.builder().worker(7).lazy(true);
        options.stateDir(dir.toString());
        if (row.has("with")) for (Map.Entry<String, JsonNode> each : row.get("with").properties()) with(options, each.getKey(), each.getValue());
        return options;
    }

    private static Opened open(Options<?> options) {
        return options instanceof Snowflake.Builder ? ((Snowflake.Builder) options).open() : ((Segments.Builder) options).open();
    }

    @Test
    void optionsTakeAndRefuseTheirValues(@TempDir Path dir) {
        int refused = 0;
        for (JsonNode row : vectors("options.json").get("options")) {
            String name = row.get("option").asText();
            for (JsonNode value : row.get("good")) open(with(options(row, dir), name, value)).close();
            for (JsonNode value : row.get("bad")) {
                Options<?> options = with(options(row, dir), name, value);
                if (options == null) continue;
                String said = assertThrows(LeafidException.class, () -> open(options), name + " of " + value).getMessage();
                assertTrue(said.startsWith(row.path("message").asText(camel(name) + " is ")) && said.contains("; allowed: "), said);
                refused++;
            }
        }
        assertTrue(refused > 130, refused + "");
        for (JsonNode row : vectors("options.json").get("unknown")) {
            String said = "\"" + row.get("name").asText() + "\" is an unknown option";
            if (row.has("called")) said += "; here it is " + camel(row.get("called").asText());
            if (row.has("nearest")) said += "; the nearest is " + camel(row.get("nearest").asText());
            Options<?> options = options(row, dir).option(row.get("name").asText(), "x");
            String message = refused("invalid_argument", () -> open(options)).getMessage();
            assertTrue(message.startsWith(said + "; allowed: "), message);
        }
    }

    /** Of each code, as the native side gives it: a user's function may fail with any. */
    @Test
    void codesSayWhetherToRetry(@TempDir Path dir) throws Exception {
        // Those that users can call.
        Constructor<LeafidException> made = LeafidException.class.getConstructor(String.class, String.class);
        assertFalse(made.newInstance("no_database", "it is no code").canRetry());
        assertTrue(vectors("errors.json").get("errors").size() > 0);
        for (JsonNode row : vectors("errors.json").get("errors")) {
            String code = row.get("code").asText();
            boolean retry = row.get("retry").asBoolean();
            Snowflake.Builder options = Snowflake.builder().stateDir(dir.toString()).timeoutMs(60_000);
            LeafidException error = refused(code, () -> options.worker((name, previous) -> {
                throw made.newInstance(code, "as the vectors have it");
            }).open());
            assertEquals(retry, error.canRetry(), code);
            assertEquals(retry, made.newInstance(code, "as the vectors have it").canRetry(), code);
        }
    }
}
