package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.leafid.jackson.JsonId;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each by both generations of Jackson. */
class JacksonTest {
    record Order(@JsonId long id, @JsonId Long customer, @JsonId List<Long> items, long count) {}

    static class Bean {
        @JsonId
        public long id;
        @JsonId
        public Set<Long> items;
    }

    static class Wrong {
        @JsonId
        public String id = "7";
    }

    enum Jackson {
        TWO {
            @Override
            String write(Object value) throws Exception {
                return new com.fasterxml.jackson.databind.ObjectMapper().writeValueAsString(value);
            }

            @Override
            <T> T read(String json, Class<T> type) throws Exception {
                return new com.fasterxml.jackson.databind.ObjectMapper().readValue(json, type);
            }
        },
        THREE {
            @Override
            String write(Object value) {
                return new tools.jackson.databind.ObjectMapper().writeValueAsString(value);
            }

            @Override
            <T> T read(String json, Class<T> type) {
                return new tools.jackson.databind.ObjectMapper().readValue(json, type);
            }
        };

        abstract String write(Object value) throws Exception;

        abstract <T> T read(String json, Class<T> type) throws Exception;
    }

    @ParameterizedTest
    @EnumSource
    void idsAreTextsInJson(Jackson jackson) throws Exception {
        Order order = new Order(Long.MAX_VALUE, null, List.of(1L, 2L), 3);
        String json = "{\"id\":\"9223372036854775807\",\"customer\":null,\"items\":[\"1\",\"2\"],\"count\":3}";
        assertEquals(json, jackson.write(order));
        assertEquals(order, jackson.read(json, Order.class));
        Bean bean = jackson.read("{\"items\": [1, \"2\"], \"id\": 9007199254740993}", Bean.class);
        assertEquals(9_007_199_254_740_993L, bean.id);
        assertEquals(Set.of(1L, 2L), bean.items);
        assertEquals(5L, jackson.read("{\"id\": 1, \"customer\": 5, \"items\": []}", Order.class).customer());
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotExactIsRefused(Jackson jackson) {
        String[] wrong = {"true", "5.0", "5e0", "-1", "9223372036854775808", "1e30", "\"\"", "\" 5\"", "\"5.0\"", "\"-1\"",
            "\"+5\"", "\"0x5\"", "\"9223372036854775808\"", "\"\u0665\"", "{}", "[5]"};
        for (String value : wrong) {
            for (String json : List.of("{\"id\": " + value + "}", "{\"id\": 1, \"items\": [" + value + "]}")) {
                Exception error = assertThrows(Exception.class, () -> jackson.read(json, Order.class), json);
                assertTrue(error.getMessage().contains("the id is "), error.getMessage());
                assertThrows(Exception.class, () -> jackson.read(json, Bean.class), json);
            }
        }
        Exception error = assertThrows(Exception.class, () -> jackson.read("{\"id\": null}", Order.class));
        assertTrue(error.getMessage().contains("the id is null"), error.getMessage());
        error = assertThrows(Exception.class, () -> jackson.write(new Wrong()));
        assertTrue(error.getMessage().contains("not for java.lang.String"), error.getMessage());
        error = assertThrows(Exception.class, () -> jackson.read("{\"id\": \"7\"}", Wrong.class));
        assertTrue(error.getMessage().contains("@JsonId is for long"), error.getMessage());
    }
}
