package io.leafid.jackson;

import com.fasterxml.jackson.annotation.JacksonAnnotationsInside;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * An id of type {@code long} or {@code Long}, or a collection of them: a text in JSON, because JavaScript rounds numbers
 * above 2^53. Texts of digits and integers are read; a truth, 5.0 and what is out of range are refused. No module is
 * registered: Jackson 2 and 3 read the annotation.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.ANNOTATION_TYPE, ElementType.FIELD, ElementType.METHOD, ElementType.PARAMETER})
@JacksonAnnotationsInside
@com.fasterxml.jackson.databind.annotation.JsonSerialize(using = Jackson2.Write.class)
@com.fasterxml.jackson.databind.annotation.JsonDeserialize(using = Jackson2.Read.class)
@tools.jackson.databind.annotation.JsonSerialize(using = Jackson3.Write.class)
@tools.jackson.databind.annotation.JsonDeserialize(using = Jackson3.Read.class)
public @interface JsonId {}
