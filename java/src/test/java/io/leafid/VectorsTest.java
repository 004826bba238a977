package io.leafid;

import static io.leafid.Support.refused;
import static io.leafid.Support.vectors;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.UUID;
import org.junit.jupiter.api.Test;

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
        for (JsonNode row : vectors("uuids.json").get("valid")) {
            UUID uuid = UUID.fromString(row.get("uuid").asText());
            assertEquals(uuid, Ids.toUuid(row.get("id").asLong()));
            assertEquals(row.get("id").asLong(), Ids.fromUuid(uuid));
        }
    }

    @Test
    void codesSayWhetherToRetry() {
        LeafidException error = refused("invalid_argument", () -> Ids.parse("x", "base62"));
        for (JsonNode row : vectors("errors.json").get("errors")) {
            if (row.get("code").asText().equals(error.code())) assertEquals(row.get("retry").asBoolean(), error.canRetry());
        }
    }
}
