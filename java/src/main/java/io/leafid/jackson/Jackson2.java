package io.leafid.jackson;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.ContextualDeserializer;
import java.io.IOException;

/** {@link JsonId} for Jackson 2; {@link Jackson3} is the same with other names. */
final class Jackson2 {
    private Jackson2() {}

    static final class Write extends JsonSerializer<Object> {
        @Override
        public void serialize(Object ids, JsonGenerator json, SerializerProvider context) throws IOException {
            if (ids instanceof Long) {
                json.writeString(ids.toString());
            } else if (ids instanceof Iterable) {
                json.writeStartArray();
                for (Object id : (Iterable<?>) ids) {
                    if (id == null) json.writeNull();
                    else serialize(id, json, context);
                }
                json.writeEndArray();
            } else {
                throw JsonMappingException.from(json, Exact.TYPES + ids.getClass().getName());
            }
        }
    }

    /** Chooses by the type of the property. */
    static final class Read extends JsonDeserializer<Object> implements ContextualDeserializer {
        @Override
        public JsonDeserializer<?> createContextual(DeserializationContext context, BeanProperty property)
                throws JsonMappingException {
            JavaType type = property == null ? context.getContextualType() : property.getType();
            if (type == null || type.hasRawClass(Long.class)) return new One(false);
            if (type.hasRawClass(long.class)) return new One(true);
            if (!type.isCollectionLikeType() || !type.getContentType().hasRawClass(Long.class)) {
                return context.reportBadDefinition(type, Exact.TYPES + type);
            }
            return context.findContextualValueDeserializer(type.withContentValueHandler(new One(false)), property);
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            return new One(false).deserialize(json, context);
        }
    }

    private static final class One extends JsonDeserializer<Object> {
        private final boolean isPrimitive;

        One(boolean isPrimitive) {
            this.isPrimitive = isPrimitive;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) throws IOException {
            boolean isIntegerOrText = json.hasToken(JsonToken.VALUE_NUMBER_INT) || json.hasToken(JsonToken.VALUE_STRING);
            try {
                return Exact.of(json.getText(), isIntegerOrText);
            } catch (IllegalArgumentException refused) {
                throw JsonMappingException.from(json, refused.getMessage());
            }
        }

        @Override
        public Object getNullValue(DeserializationContext context) throws JsonMappingException {
            if (!isPrimitive) return null;
            throw JsonMappingException.from(context.getParser(), "the id is null: a long has none");
        }
    }
}
