package io.leafid.jackson;

import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DatabindException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;

/** {@link JsonId} for Jackson 3; {@link Jackson2} is the same with other names. */
final class Jackson3 {
    private Jackson3() {}

    static final class Write extends ValueSerializer<Object> {
        @Override
        public void serialize(Object ids, JsonGenerator json, SerializationContext context) {
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
                throw DatabindException.from(json, Exact.TYPES + ids.getClass().getName());
            }
        }
    }

    /** Chooses by the type of the property. */
    static final class Read extends ValueDeserializer<Object> {
        @Override
        public ValueDeserializer<?> createContextual(DeserializationContext context, BeanProperty property) {
            JavaType type = property == null ? context.getContextualType() : property.getType();
            if (type == null || type.hasRawClass(Long.class)) return new One(false);
            if (type.hasRawClass(long.class)) return new One(true);
            if (!type.isCollectionLikeType() || !type.getContentType().hasRawClass(Long.class)) {
                return context.reportBadDefinition(type, Exact.TYPES + type);
            }
            return context.findContextualValueDeserializer(type.withContentValueHandler(new One(false)), property);
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) {
            return new One(false).deserialize(json, context);
        }
    }

    private static final class One extends ValueDeserializer<Object> {
        private final boolean isPrimitive;

        One(boolean isPrimitive) {
            this.isPrimitive = isPrimitive;
        }

        @Override
        public Object deserialize(JsonParser json, DeserializationContext context) {
            boolean isIntegerOrText = json.hasToken(JsonToken.VALUE_NUMBER_INT) || json.hasToken(JsonToken.VALUE_STRING);
            try {
                return Exact.of(json.getString(), isIntegerOrText);
            } catch (IllegalArgumentException refused) {
                throw DatabindException.from(json, refused.getMessage());
            }
        }

        @Override
        public Object getNullValue(DeserializationContext context) {
            if (!isPrimitive) return null;
            throw DatabindException.from(context.getParser(), "the id is null: a long has none");
        }
    }
}
