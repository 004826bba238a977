package io.leafid;

import static io.leafid.Support.refused;
import static io.leafid.Support.vectors;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.UUID;
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

    /** Of each code, as the native side gives it: a user's function may fail with any. */
    @Test
    void codesSayWhetherToRetry(@TempDir Path dir) {
        assertTrue(vectors("errors.json").get("errors").size() > 0);
        for (JsonNode row : vectors("errors.json").get("errors")) {
            String code = row.get("code").asText();
            boolean retry = row.get("retry").asBoolean();
            Snowflake.Builder options = Snowflake.builder().stateDir(dir.toString()).timeoutMs(60_000);
            LeafidException error = refused(code, () -> options.worker((name, previous) -> {
                throw new LeafidException(code, "as the vectors have it", !retry);
            }).open());
            assertEquals(retry, error.canRetry(), code);
        }
    }
}
