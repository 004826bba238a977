package io.leafid;

import static io.leafid.Support.refused;
import static io.leafid.Support.vectors;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PublicIdsTest {
    private static final JsonNode ROTATION = vectors("public_ids.json").get("rotation");

    @TempDir
    Path dir;
    private String first;
    private String second;

    @BeforeEach
    void keys() throws IOException {
        first = key(0);
        second = key(1);
    }

    private String key(int at) throws IOException {
        String digits = ROTATION.get("keys").get(at).get("key").asText();
        return "file:" + Files.writeString(dir.resolve(digits.substring(0, 4)), digits);
    }

    @Test
    void theFirstKeyEncryptsAndAllDecrypt() {
        PublicIds ids = new PublicIds(first, 2, second, "1");
        for (JsonNode row : ROTATION.get("texts")) {
            long id = row.get("id").asLong();
            int version = row.get("version").asInt();
            assertEquals(version == 2, ids.encrypt(id) == row.get("public_id").asLong());
            assertEquals(id, ids.decrypt(row.get("public_id").asLong(), version));
            for (String form : new String[] {"base32", "base62"}) {
                assertEquals(version == 2, ids.format(id, form).equals(row.get(form).asText()));
                assertEquals(id, ids.parse(row.get(form).asText(), form));
            }
        }
        assertEquals(ids.encrypt(1), new PublicIds(first, 2, (String[]) null).encrypt(1));
    }

    /** Each would leave out a key, or encrypt with one that only decrypts. */
    @Test
    void aKeyOrAVersionThatIsMissingIsRefused() {
        says("key is null, where key 1 should be; allowed: ", () -> new PublicIds(null, 3, second, "2"));
        says("key is null, where key 2 should be; allowed: ", () -> new PublicIds(first, 3, null, "2"));
        says("version is missing after key 2; allowed: 0 to 31", () -> new PublicIds(first, 3, second));
        says("version is missing after key 2; allowed: 0 to 31", () -> new PublicIds(first, 3, second, null));
        says("version is newest; allowed: 0 to 31", () -> new PublicIds(first, 3, second, "newest"));
        PublicIds ids = new PublicIds(first, 2);
        says("text is null; allowed: ", () -> ids.parse(null, "base32"));
        says("form is null; allowed: ", () -> ids.format(1, null));
    }

    /** What stands in the place of a key may be one. */
    private void says(String said, Runnable call) {
        String message = refused("invalid_argument", call::run).getMessage();
        assertTrue(message.startsWith(said), message);
        assertFalse(message.contains(second), message);
    }
}
