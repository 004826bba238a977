package io.leafid.jackson;

/** An id as JSON has it: exact, or an error. */
final class Exact {
    private static final String RULE = ": it must be an integer from 0 to 9223372036854775807, or its digits as text";
    static final String TYPES = "@JsonId is for long, Long and collections of Long: not for ";

    private Exact() {}

    /** The id of the text of a JSON value, which is an integer or a text. */
    static Long of(String value, boolean isIntegerOrText) {
        String digits = value == null ? "" : value;
        boolean ok = isIntegerOrText && !digits.isEmpty() && digits.length() <= 19;
        for (int at = 0; ok && at < digits.length(); at++) ok = digits.charAt(at) >= '0' && digits.charAt(at) <= '9';
        try {
            if (ok) return Long.valueOf(digits);
        } catch (NumberFormatException tooLarge) {
            // Refused below.
        }
        throw new IllegalArgumentException("the id is " + value + RULE);
    }
}
