package io.leafid.hibernate;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.hibernate.annotations.IdGeneratorType;

/**
 * Beside JPA's {@code @Id} of a {@code Long}: the id is known before the INSERT, and the database chooses none. For
 * Hibernate 6.2 and later.
 *
 * <pre>{@code
 * @Id @LeafId Long id;
 * }</pre>
 */
@IdGeneratorType(LeafIdGenerator.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface LeafId {
    /** A tag of {@link io.leafid.Leafid#segments}; without one, {@link io.leafid.Leafid#snowflake} makes the ids. */
    String tag() default "";
}
