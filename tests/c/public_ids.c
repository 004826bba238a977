/* Public ids: the vectors, keys from the environment and from files, and what is refused. */
#define _GNU_SOURCE
#include "check.h"
#include "public_ids.inc"

#include <stdlib.h>
#include <string.h>

#define LENGTH(table) (sizeof(table) / sizeof *(table))

static void encrypted_and_decrypted(void) {
    for (size_t i = 0; i < LENGTH(valid); i++) {
        leafid_public_ids *ids;
        int64_t public_id = -1, id = -1;
        char text[LEAFID_ID_TEXT_SIZE];
        REQUIRE_OK(leafid_public_ids_new(valid[i].key, valid[i].length, valid[i].version, &ids));
        CHECK_STATUS(leafid_public_ids_encrypt(ids, valid[i].id, &public_id), LEAFID_OK);
        CHECK_NUMBER(public_id, valid[i].public_id);
        CHECK_STATUS(leafid_public_ids_decrypt(ids, public_id, valid[i].version, &id), LEAFID_OK);
        CHECK_NUMBER(id, valid[i].id);
        for (int32_t form = LEAFID_TEXT_FORM_BASE32; form <= LEAFID_TEXT_FORM_BASE62; form++) {
            const char *expected = form == LEAFID_TEXT_FORM_BASE32 ? valid[i].base32 : valid[i].base62;
            CHECK_STATUS(leafid_public_ids_format(ids, id, form, text, strlen(expected) + 1), LEAFID_OK);
            CHECK(strcmp(text, expected) == 0);
            strcpy(text, "x");
            CHECK_STATUS(leafid_public_ids_format(ids, id, form, text, strlen(expected)), LEAFID_INVALID_ARGUMENT);
            CHECK(strcmp(text, "x") == 0);
            id = -1;
            CHECK_STATUS(leafid_public_ids_parse(ids, expected, form, &id), LEAFID_OK);
            CHECK_NUMBER(id, valid[i].id);
        }
        leafid_public_ids_free(ids);
    }
}

static leafid_public_ids *of_both_keys(void) {
    leafid_public_ids *ids = NULL;
    REQUIRE_OK(leafid_public_ids_new(keys[0].key, keys[0].length, keys[0].version, &ids));
    CHECK_STATUS(leafid_public_ids_add_key(ids, keys[1].key, keys[1].length, keys[1].version), LEAFID_OK);
    return ids;
}

static void two_keys(void) {
    leafid_public_ids *ids = of_both_keys();
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char text[LEAFID_ID_TEXT_SIZE];
        int64_t id = -1;
        CHECK_STATUS(leafid_public_ids_decrypt(ids, texts[i].public_id, texts[i].version, &id), LEAFID_OK);
        CHECK_NUMBER(id, texts[i].id);
        id = -1;
        CHECK_STATUS(leafid_public_ids_parse(ids, texts[i].base32, LEAFID_TEXT_FORM_BASE32, &id), LEAFID_OK);
        CHECK_NUMBER(id, texts[i].id);
        id = -1;
        CHECK_STATUS(leafid_public_ids_parse(ids, texts[i].base62, LEAFID_TEXT_FORM_BASE62, &id), LEAFID_OK);
        CHECK_NUMBER(id, texts[i].id);
        CHECK_STATUS(leafid_public_ids_format(ids, id, LEAFID_TEXT_FORM_BASE62, text, sizeof text), LEAFID_OK);
        CHECK((strcmp(text, texts[i].base62) == 0) == (texts[i].version == keys[0].version));
    }
    for (size_t i = 0; i < LENGTH(keys); i++) {
        CHECK_STATUS(leafid_public_ids_add_key(ids, keys[i].key, keys[i].length, keys[i].version),
                     LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("allowed: a version that has no key yet");
    }
    leafid_public_ids_free(ids);
}

static void refusals(void) {
    leafid_public_ids *ids = of_both_keys(), *none = NULL;
    const uint8_t zeros[64] = {0};
    int64_t id = 42;
    char text[LEAFID_ID_TEXT_SIZE] = "x";
    for (size_t i = 0; i < LENGTH(texts_refused); i++) {
        CHECK_STATUS(leafid_public_ids_parse(ids, texts_refused[i].text, texts_refused[i].form, &id),
                     LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(texts_refused[i].message);
    }
    for (size_t i = 0; i < LENGTH(decrypt_refused); i++) {
        CHECK_STATUS(leafid_public_ids_decrypt(ids, decrypt_refused[i].public_id, decrypt_refused[i].version, &id),
                     LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(decrypt_refused[i].message);
    }
    for (size_t i = 0; i < LENGTH(encrypt_refused); i++) {
        CHECK_STATUS(leafid_public_ids_encrypt(ids, encrypt_refused[i].id, &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(encrypt_refused[i].message);
        CHECK_STATUS(leafid_public_ids_format(ids, encrypt_refused[i].id, LEAFID_TEXT_FORM_BASE32, text, sizeof text),
                     LEAFID_INVALID_ARGUMENT);
    }
    for (size_t i = 0; i < LENGTH(versions_refused); i++) {
        CHECK_STATUS(leafid_public_ids_new(zeros, 16, versions_refused[i].version, &none), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(versions_refused[i].message);
    }
    CHECK_STATUS(leafid_public_ids_new(zeros, 16, -1, &none), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("version is -1; allowed: 0 to 31");
    for (size_t i = 0; i < LENGTH(keys_refused); i++) {
        CHECK_STATUS(leafid_public_ids_new(zeros, keys_refused[i].bytes, 0, &none), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(keys_refused[i].message);
        CHECK_STATUS(leafid_public_ids_add_key(ids, zeros, keys_refused[i].bytes, 0), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(keys_refused[i].message);
    }
    CHECK_STATUS(leafid_public_ids_format(ids, 1, 4, text, sizeof text), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_public_ids_parse(ids, "0", -1, &id), LEAFID_INVALID_ARGUMENT);
    CHECK_NUMBER(id, 42);
    CHECK(strcmp(text, "x") == 0 && none == NULL);
    leafid_public_ids_free(ids);
}

static void sources(void) {
    leafid_public_ids *same, *ids, *none = NULL;
    int64_t expected, id;
    for (size_t i = 0; i < LENGTH(hex_accepted); i++) {
        CHECK(setenv("LEAFID_TEST_KEY", hex_accepted[i].text, 1) == 0);
        REQUIRE_OK(leafid_public_ids_new(hex_accepted[i].key, hex_accepted[i].length, 0, &same));
        REQUIRE_OK(leafid_public_ids_load("env:LEAFID_TEST_KEY", 0, &ids));
        CHECK_STATUS(leafid_public_ids_load_key(ids, "env:LEAFID_TEST_KEY", 31), LEAFID_OK);
        CHECK_STATUS(leafid_public_ids_encrypt(same, 42, &expected), LEAFID_OK);
        CHECK_STATUS(leafid_public_ids_encrypt(ids, 42, &id), LEAFID_OK);
        CHECK_NUMBER(id, expected);
        leafid_public_ids_free(ids);
        leafid_public_ids_free(same);
    }
    for (size_t i = 0; i < LENGTH(hex_refused); i++) {
        CHECK(setenv("LEAFID_TEST_KEY", hex_refused[i].text, 1) == 0);
        CHECK_STATUS(leafid_public_ids_load("env:LEAFID_TEST_KEY", 0, &none), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("key is env:LEAFID_TEST_KEY, which holds another text; allowed: ");
    }
    CHECK_STATUS(leafid_public_ids_load("env:LEAFID_TEST_NOT_SET", 0, &none), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_public_ids_load("file:/not/there", 0, &none), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("key is file:/not/there, which cannot be read: ");
    CHECK_STATUS(leafid_public_ids_load("2b7e151628aed2a6abf7158809cf4f3c", 0, &none), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("key is a text of 32 characters; allowed: ");
    CHECK(none == NULL);
}

int main(void) {
    test("ids are encrypted and decrypted as the vectors say", encrypted_and_decrypted);
    test("the first key encrypts, and all decrypt", two_keys);
    test("what cannot be is refused and writes nothing", refusals);
    test("keys from the environment and from files", sources);
    return finish();
}
