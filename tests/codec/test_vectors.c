/* SPDX-License-Identifier: MIT */
/* Every vector without actors and exports: it must decode to its fields and encode to the same bits; cut at any bit, it
   must fault (law L4). */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <uerudp/network_version.h>
#include <uerudp/reassembly.h>
#include "tests/codec/cuts.h"
#include "tests/codec/expected.h"
#include "tests/codec/vectors.h"
#include "tests/support/equal.h"
#include "tests/support/guarded.h"
#include "tests/support/heap.h"
#include "tests/support/recordings.h"
#include "tests/support/roundtrip.h"

#define BYTES_MAX 8192

static struct roundtrip *round_trip;
static struct guarded room;
static json_t *names_file;
static unsigned values_compared;

/* ---- reading the files ---- */

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *object, const char *key, uint64_t otherwise) {
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : otherwise;
}

static size_t bytes_of(const json_t *object, const char *key, uint8_t *bytes) {
    return hex_read(text_of(object, key), bytes, BYTES_MAX);
}

typedef void check_fn(const json_t *vector);

/* own and all: the minimum number of vectors without and with the folder UERUDP_SHARED. */
static void for_each_vector(const char *file_name, check_fn *check, size_t own, size_t all) {
    json_t *vectors = vectors_load(file_name, "vectors", 0);
    size_t n;
    const json_t *vector;
    json_array_foreach(vectors, n, vector) {
        check(vector);
    }
    json_decref(vectors);
    printf("%s: %zu vectors, %u values compared so far\n", file_name, n, values_compared);
    assert_true(n >= (recordings_have_shared(own == 0 ? file_name : NULL) ? all : own));
    if (n == 0) {
        skip();
    }
}

/* ---- settings of vectors ---- */

static enum ue_direction direction_of(const json_t *vector) {
    return strncmp(text_of(vector, "direction"), "S2C", 3) == 0 ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

static const char *release_of_netver(uint64_t netver) {
    static const struct {
        unsigned first;
        const char *release;
    } rows[] = {{36, "5.5"}, {35, "5.4"}, {28, "5.1"}, {14, "4.25"},
                {8, "4.22"}, {5, "4.20"}, {2, "4.18"}, {0, "4.14"}};
    size_t i = 0;
    while (netver < rows[i].first) {
        i++;
    }
    return rows[i].release;
}

static struct ue_settings settings_of(const json_t *params) {
    return (struct ue_settings){
        .magic_bits = (uint8_t)number_of(params, "magic_bits", 0),
        .max_packet_bytes = (uint32_t)number_of(params, "max_packet_bytes", 0),
        .ch_seq_bound = (uint32_t)number_of(params, "max_chsequence", 0),
        .terminators = (uint8_t)number_of(params, "terminators", 0),
        .internal_ack = json_is_true(json_object_get(params, "internal_ack")),
    };
}

static const char *release_of_bunch(const json_t *params) {
    const char *generation = text_of(params, "generation");
    return strcmp(generation, "G1") == 0   ? "4.18"
           : strcmp(generation, "G2") == 0 ? "4.20"
           : strcmp(generation, "G4") == 0 ? "5.5"
                                           : release_of_netver(number_of(params, "engine_netver", 17));
}

static struct ue_context context_of(const json_t *vector, const char *release, const struct ue_settings *settings) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), settings);
    x.direction = direction_of(vector);
    return x;
}

/* ---- whole datagrams ---- */

static struct expected expect(const json_t *vector, const uint8_t *bytes) {
    return (struct expected){.names = json_object_get(names_file, "vectors"),
                             .where = text_of(vector, "name"),
                             .recorder = &round_trip->recorder,
                             .bytes = bytes};
}

static void conclude(const struct expected *e) {
    assert_int_equal(e->faults, 0);
    values_compared += e->values;
}

static void assert_round_trip(const json_t *vector, const struct ue_context *x, const uint8_t *bytes, size_t size) {
    const char *problem = roundtrip_problem(round_trip, x, bytes, size);
    if (problem != NULL) {
        fail_msg("%s: %s", text_of(vector, "name"), problem);
    }
    if (round_trip->result.fault.status != UE_OK) {
        fail_msg("%s: %s at bit %zu", text_of(vector, "name"), ue_status_text(round_trip->result.fault.status),
                 round_trip->result.fault.bit);
    }
    if (!round_trip->result.canonical || round_trip->result.message.status != UE_OK) {
        fail_msg("%s: not canonical, or a message is not understood", text_of(vector, "name"));
    }
}

static void check_datagram(const json_t *vector, const struct ue_context *x) {
    static struct expected e;
    uint8_t bytes[BYTES_MAX];
    size_t size = bytes_of(vector, "hex", bytes);
    assert_round_trip(vector, x, bytes, size);
    e = expect(vector, bytes);
    expected_datagram(&e, json_object_get(vector, "decode"));
    conclude(&e);
    assert_cuts_are_clean(round_trip, &room, x, bytes, size);
}

static void check_handshake(const json_t *vector) {
    const json_t *params = json_object_get(vector, "params");
    const char *layout = text_of(params, "layout");
    bool features = json_is_true(json_object_get(params, "features_field"));
    struct ue_settings settings = settings_of(params);
    const char *release = layout[0] == 'A' ? "4.18" : layout[0] == 'B' ? "4.22" : layout[0] == 'C' ? "4.25" : "5.1";
    struct ue_context x = context_of(vector, features ? "5.4" : release, &settings);
    x.ids = strstr(layout, "with session/client ids") != NULL;
    check_datagram(vector, &x);
}

static void check_modern(const json_t *vector) {
    const json_t *params = json_object_get(vector, "params");
    struct ue_settings settings = settings_of(params);
    bool ids = number_of(params, "prefix_bits", 0) == 6;
    bool jitter = strncmp(text_of(params, "packet_info"), "EngineNetVer>=14", 16) == 0;
    bool history_seq = json_is_true(json_object_get(params, "acked_history_seq_field"));
    struct ue_context x = context_of(vector, history_seq ? "5.8" : !jitter ? "4.22" : ids ? "5.4" : "4.25", &settings);
    check_datagram(vector, &x);
}

static void check_legacy(const json_t *vector) {
    const json_t *params = json_object_get(vector, "params");
    struct ue_settings settings = settings_of(params);
    bool packed = strcmp(text_of(params, "chindex"), "SerializeIntPacked") == 0;
    struct ue_context x = context_of(vector, packed ? "4.20" : "4.18", &settings);
    check_datagram(vector, &x);
}

static void check_control(const json_t *vector) {
    const json_t *params = json_object_get(vector, "params");
    struct ue_settings settings = settings_of(params);
    if (json_object_get(json_object_get(vector, "decode"), "MagicHeader_4bits") != NULL) {
        settings.magic_bits = 4;
        settings.handlers[0] = UE_HANDLER_AESGCM;
        settings.handlers[1] = UE_HANDLER_OODLE;
    }
    struct ue_context x = context_of(vector, release_of_bunch(params), &settings);
    check_datagram(vector, &x);
}

static void check_replay(const json_t *vector) {
    const json_t *params = json_object_get(vector, "params");
    struct ue_settings settings = settings_of(params);
    struct ue_context x = context_of(vector, release_of_bunch(params), &settings);
    check_datagram(vector, &x);
}

/* ---- packet handlers ---- */

static enum ue_handler handler_of(const char *name, bool byte_form) {
    if (strcmp(name, "AESGCM") == 0) {
        return byte_form ? UE_HANDLER_AESGCM_BYTES : UE_HANDLER_AESGCM;
    }
    return strcmp(name, "Oodle") == 0         ? UE_HANDLER_OODLE
           : strcmp(name, "AES") == 0         ? UE_HANDLER_AES_ECB
           : strcmp(name, "Reliability") == 0 ? UE_HANDLER_RELIABILITY
                                              : UE_HANDLER_NONE;
}

struct plaintext {
    uint8_t bytes[BYTES_MAX];
    size_t size;
};

static bool give_plaintext(void *user, const struct ue_ciphertext *sealed, struct ue_plaintext *opened) {
    const struct plaintext *known = user;
    *opened = (struct ue_plaintext){known->bytes, known->size, "that of the vector"};
    return true;
}

/* The codec has no cipher: the vector contains the plaintext. */
static void check_handlers(const json_t *vector) {
    static struct plaintext known;
    const struct ue_decryptor decryptor = {give_plaintext, &known};
    const json_t *chain = json_object_get(vector, "component_chain");
    const json_t *fields = json_object_get(json_object_get(vector, "decode"), "handler_fields");
    struct ue_settings settings = settings_of(json_object_get(vector, "params"));
    bool byte_form = strstr(text_of(vector, "name"), "byteform") != NULL;
    size_t count = 0;
    for (size_t i = json_array_size(chain); i-- > 0;) {
        enum ue_handler handler = handler_of(json_string_value(json_array_get(chain, i)), byte_form);
        if (handler != UE_HANDLER_NONE) {
            settings.handlers[count++] = handler;
        }
    }
    known.size = bytes_of(fields, "plaintext", known.bytes);
    settings.decryptor = known.size != 0 ? &decryptor : NULL;
    struct ue_context x = context_of(vector, "4.25", &settings);
    check_datagram(vector, &x);
}

/* ---- bunches and messages without a datagram around them ---- */

static size_t decode_bare(const json_t *vector, const struct ue_context *x, const uint8_t *bytes, size_t bits) {
    size_t bit = 0;
    size_t count = 0;
    struct ue_fault fault;
    while (bit < bits) {
        struct ue_item *item = &round_trip->built_items[count++];
        item->is_ack = false;
        if (ue_bunch_decode(x, bytes, bits, &bit, &item->bunch, &fault) != UE_OK) {
            fail_msg("%s: %s at bit %zu", text_of(vector, "name"), ue_status_text(fault.status), fault.bit);
        }
    }
    assert_int_equal(bit, bits);
    return count;
}

static void assert_bare_encodes_back(const struct ue_context *x, size_t count, const uint8_t *bytes, size_t bits) {
    uint8_t written[BYTES_MAX];
    size_t bit = 0;
    struct ue_fault fault;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ue_bunch_encode(x, &round_trip->built_items[i].bunch, written, sizeof written, &bit, &fault),
                         UE_OK);
    }
    assert_int_equal(bit, bits);
    assert_true(ue_view_equal((struct ue_view){written, 0, bits}, (struct ue_view){bytes, 0, bits}));
}

/* Makes a datagram with the bunches, to be tested like the others. Returns the bit at which they begin. */
static size_t wrap(const json_t *vector, const struct ue_context *x, size_t count, uint8_t *out, size_t *size) {
    struct ue_fault fault;
    struct ue_datagram d = {.items = round_trip->built_items, .item_count = count};
    d.packet.history_words = x->profile.packet == UE_PACKET_LEGACY ? 0 : 1;
    assert_int_equal(ue_datagram_encode(x, &d, out, BYTES_MAX, size, &fault), UE_OK);
    assert_round_trip(vector, x, out, *size);
    return round_trip->recorder.groups[x->settings.internal_ack ? 1 : 2].begin_bit;
}

static void check_bare(const json_t *vector, const uint8_t *bytes, size_t bits, const json_t *decode, bool single) {
    static struct expected e;
    const json_t *params = json_object_get(vector, "params");
    struct ue_settings settings = settings_of(params);
    struct ue_context x = context_of(vector, release_of_bunch(params), &settings);
    uint8_t whole[BYTES_MAX];
    size_t size;
    size_t count = decode_bare(vector, &x, bytes, bits);
    assert_bare_encodes_back(&x, count, bytes, bits);
    assert_bunch_cuts_fault(&room, &x, bytes, bits);
    size_t begin = wrap(vector, &x, count, whole, &size);
    assert_true(ue_view_equal((struct ue_view){whole, begin, bits}, (struct ue_view){bytes, 0, bits}));
    e = expect(vector, whole);
    e.base_bit = begin;
    if (single) {
        assert_int_equal(count, 1);
        expected_bunch(&e, decode, 0);
    } else {
        e.ignore_header = true;
        expected_datagram(&e, decode);
    }
    conclude(&e);
    assert_cuts_are_clean(round_trip, &room, &x, whole, size);
}

static void check_bunch(const json_t *vector) {
    uint8_t bytes[BYTES_MAX];
    bytes_of(vector, "hex", bytes);
    check_bare(vector, bytes, number_of(vector, "bits", 0), json_object_get(vector, "decode"), true);
}

/* A header whose payload is not in the vector: adds a payload of zeros. */
static void check_header(const json_t *vector, const json_t *header) {
    uint8_t bytes[BYTES_MAX] = {0};
    const json_t *decode = json_object_get(header, "decode");
    hex_read(text_of(header, "header_hex"), bytes, sizeof bytes);
    size_t bits = number_of(header, "header_bits", 0) + number_of(decode, "BunchDataBits", 0);
    assert_true(bits <= sizeof bytes * 8);
    check_bare(vector, bytes, bits, decode, true);
}

static void check_partial(const json_t *vector) {
    uint8_t bytes[BYTES_MAX];
    size_t n;
    const json_t *header;
    json_array_foreach(json_object_get(vector, "headers"), n, header) {
        check_header(vector, header);
    }
    if (json_object_get(vector, "hex") != NULL) {
        bytes_of(vector, "hex", bytes);
        check_bare(vector, bytes, number_of(vector, "bits", 0), json_object_get(vector, "decode"), false);
    }
}

/* ---- partial bunches ---- */

struct reassembly_counts {
    struct ue_reassembly *reassembly;
    size_t messages, exports, fragments, bits;
};

static void on_message(void *user, const struct ue_observed_event *event) {
    struct reassembly_counts *joined = user;
    assert_int_not_equal(event->type, UE_OBSERVED_ABANDONED);
    joined->exports += event->message.content.has_exports;
    if (event->type == UE_OBSERVED_MESSAGE && !event->message.content.has_exports) {
        joined->messages++;
        joined->fragments += event->message.fragment_count;
        joined->bits += event->message.content.data.bits;
    }
}

static void join(struct reassembly_counts *joined, const json_t *vector, const uint8_t *bytes, size_t bits) {
    const struct ue_observer_callbacks callbacks = {.event = on_message, .user = joined};
    struct ue_settings settings = settings_of(json_object_get(vector, "params"));
    struct ue_context x = context_of(vector, release_of_bunch(json_object_get(vector, "params")), &settings);
    static uint32_t item;
    size_t count = decode_bare(vector, &x, bytes, bits);
    for (size_t i = 0; i < count; i++) {
        const struct ue_bunch *bunch = &round_trip->built_items[i].bunch;
        const struct ue_observed_event event = {
            .type = UE_OBSERVED_BUNCH,
            .bunch = {.decoded = bunch, .item = item++, .reliable_id = bunch->ch_seq, .copy = bunch->reliable}};
        ue_reassembly_feed(joined->reassembly, &x, &event, &callbacks);
    }
}

/* The flags of the bunches. */
static void count_bunch(const json_t *bunch, struct reassembly_counts *counts) {
    bool is_partial = number_of(bunch, "bPartial", 0) != 0;
    bool has_exports = number_of(bunch, "bHasPackageMapExports", 0) != 0;
    counts->messages += !is_partial || number_of(bunch, "bPartialFinal", 0) != 0;
    counts->exports += has_exports;
    counts->fragments++;
    counts->bits += has_exports ? 0 : number_of(bunch, "BunchDataBits", 0);
}

static void join_headers(struct reassembly_counts *joined, const json_t *vector, struct reassembly_counts *counts) {
    size_t n;
    const json_t *header;
    json_array_foreach(json_object_get(vector, "headers"), n, header) {
        uint8_t bytes[BYTES_MAX] = {0};
        hex_read(text_of(header, "header_hex"), bytes, sizeof bytes);
        const json_t *decode = json_object_get(header, "decode");
        join(joined, vector, bytes, number_of(header, "header_bits", 0) + number_of(decode, "BunchDataBits", 0));
        count_bunch(decode, counts);
    }
}

static void check_chain(const json_t *vector) {
    struct reassembly_counts joined = {.reassembly = ue_reassembly_new(&heap)};
    struct reassembly_counts counts = {0};
    uint8_t bytes[BYTES_MAX];
    size_t n;
    const json_t *bunch;
    bytes_of(vector, "hex", bytes);
    join(&joined, vector, bytes, number_of(vector, "bits", 0));
    join_headers(&joined, vector, &counts);
    json_array_foreach(json_object_get(json_object_get(vector, "decode"), "bunches"), n, bunch) {
        count_bunch(bunch, &counts);
    }
    assert_int_equal(joined.messages, counts.messages);
    assert_int_equal(joined.exports, counts.exports);
    assert_true(joined.fragments == counts.fragments && joined.bits == counts.bits);
    ue_reassembly_free(joined.reassembly);
}

static void assert_messages_encode_back(const struct ue_context *x, struct ue_view payload) {
    uint8_t written[BYTES_MAX];
    size_t bit = 0;
    size_t out = 0;
    struct ue_fault fault;
    while (bit < payload.bits) {
        struct ue_message message;
        assert_int_equal(ue_message_decode(x, payload, &bit, &message, &fault), UE_OK);
        assert_int_equal(ue_message_encode(x, &message, written, sizeof written, &out, &fault), UE_OK);
        assert_int_equal(out, bit);
    }
    assert_int_equal(bit, payload.bits);
    assert_true(ue_view_equal((struct ue_view){written, 0, out}, payload));
}

static void check_messages(const json_t *vector) {
    static struct expected e;
    uint8_t bytes[BYTES_MAX];
    uint8_t whole[BYTES_MAX];
    size_t size;
    bytes_of(vector, "hex", bytes);
    bool old_login = strcmp(text_of(vector, "name"), "login-4.19") == 0; /* has netver 0, but also a platform */
    const char *release = old_login ? "4.19" : release_of_netver(number_of(vector, "engine_netver", 0));
    struct ue_context x = context_of(vector, release, NULL);
    struct ue_view payload = {bytes, 0, number_of(vector, "bits", 0)};
    assert_messages_encode_back(&x, payload);
    assert_message_cuts_are_clean(&room, &x, payload);
    round_trip->built_items[0] = (struct ue_item){.bunch = {.data = payload}};
    wrap(vector, &x, 1, whole, &size);
    e = expect(vector, whole);
    expected_messages(&e, json_object_get(vector, "decode"));
    conclude(&e);
}

/* ---- the tests ---- */

static void handshakes(void **state) {
    for_each_vector("handshake.json", check_handshake, 37, 76);
}

static void sequences_of_cookies(void **state) {
    if (!recordings_have_shared("cookie_examples")) {
        skip();
    }
    json_t *file = vectors_load("handshake.json", "cookie_examples", 0);
    size_t n;
    size_t done = 0;
    const json_t *example;
    json_array_foreach(file, n, example) {
        uint8_t cookie[BYTES_MAX];
        if (json_object_get(example, "server_sequence") != NULL) {
            assert_int_equal(bytes_of(example, "cookie_hex", cookie), UE_COOKIE_BYTES);
            struct ue_sequences first = ue_cookie_sequences(cookie);
            assert_int_equal(first.server, number_of(example, "server_sequence", 0));
            assert_int_equal(first.client, number_of(example, "client_sequence", 0));
            done++;
        }
    }
    assert_true(done != 0);
    json_decref(file);
}

static void modern_packets(void **state) {
    for_each_vector("packet-modern.json", check_modern, 9, 34);
}

static void legacy_packets(void **state) {
    for_each_vector("packet-legacy.json", check_legacy, 6, 12);
}

static void handler_framing(void **state) {
    for_each_vector("packet-handlers.json", check_handlers, 8, 12);
}

static void control_bunches(void **state) {
    for_each_vector("bunch-control.json", check_control, 0, 12);
}

static void control_messages(void **state) {
    for_each_vector("bunch-control-synthetic.json", check_messages, 0, 35);
}

static void partial_bunches(void **state) {
    for_each_vector("bunch-partial.json", check_partial, 0, 8);
}

static void partial_chains(void **state) {
    for_each_vector("bunch-partial.json", check_chain, 0, 8);
}

static void replay_packets(void **state) {
    for_each_vector("bunch-replay.json", check_replay, 0, 17);
}

static void every_bunch_header(void **state) {
    for_each_vector("bunch-synthetic.json", check_bunch, 0, 32);
}

static void check_network_version(const json_t *vector) {
    const char *text = text_of(vector, "text");
    assert_true(ue_network_version_checksum_text(text, strlen(text)) ==
                number_of(vector, "crc32_of_utf32le_lower_case_text", 0));
}

static void network_versions(void **state) {
    for_each_vector("network-version.json", check_network_version, 0, 3);
}

static int set_up(void **state) {
    round_trip = roundtrip_new();
    room = guarded_new(ROUNDTRIP_BYTES);
    names_file = json_load_file("tests/reference/names.json", 0, NULL);
    return round_trip == NULL || names_file == NULL;
}

static int tear_down(void **state) {
    json_decref(names_file);
    guarded_free(&room);
    roundtrip_free(round_trip);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handshakes),       cmocka_unit_test(sequences_of_cookies), cmocka_unit_test(modern_packets),
        cmocka_unit_test(legacy_packets),   cmocka_unit_test(handler_framing),      cmocka_unit_test(control_bunches),
        cmocka_unit_test(control_messages), cmocka_unit_test(partial_bunches),      cmocka_unit_test(partial_chains),
        cmocka_unit_test(replay_packets),   cmocka_unit_test(every_bunch_header),   cmocka_unit_test(network_versions),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
