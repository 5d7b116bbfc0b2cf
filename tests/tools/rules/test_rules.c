/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/within.h"
#include "tools/rules/rules.h"

#define SECOND INT64_C(1000000000)

/* ---- the packet of the tests: Hello on channel 0, reliable 77 on channel 3, unreliable on channel 4 ---- */

#define PACKET_SEQ 100
#define PACKET_ID (16384 + PACKET_SEQ)

/* Made anew for each test. */
static struct rules_fixture {
    struct ue_context context;
    struct datagram_facts facts;
    struct ue_tracker_datagram datagram;
    struct ue_packet_ids packet_ids;
    uint8_t bytes[256];
} fixture;

static void make_items(const struct ue_context *x, struct ue_item items[3], uint8_t *hello, size_t room) {
    static const uint8_t payload[4] = {0xde, 0xad, 0xbe, 0xef};
    struct ue_message message = {.type = UE_MESSAGE_HELLO, .param_count = 2};
    struct ue_fault fault;
    size_t bits = 0;
    assert_int_equal(ue_message_encode(x, &message, hello, room, &bits, &fault), UE_OK);
    items[0].bunch = (struct ue_bunch){.control = true,
                                       .open = true,
                                       .reliable = true,
                                       .ch_seq = 5,
                                       .has_name = true,
                                       .name = {.hardcoded = true, .index = UE_NAME_CONTROL},
                                       .data = {hello, 0, bits}};
    items[1].bunch = (struct ue_bunch){.reliable = true,
                                       .channel = 3,
                                       .ch_seq = 77,
                                       .has_name = true,
                                       .name = {.hardcoded = true, .index = UE_NAME_ACTOR},
                                       .data = {payload, 0, 32}};
    items[2].bunch = (struct ue_bunch){.channel = 4, .data = {payload, 0, 32}};
}

static void read_stage(void) {
    datagram_facts_read(&fixture.facts, 2, &fixture.datagram);
}

static int set_up(void **state) {
    fixture = (struct rules_fixture){.packet_ids = {.has_id = true, .packet_id = PACKET_ID}};
    ue_context_init(&fixture.context, ue_profile_find("5.5"), NULL);
    fixture.context.direction = UE_CLIENT_TO_SERVER;
    uint8_t hello[64];
    struct ue_item items[3] = {0};
    struct ue_datagram datagram = {.items = items, .item_count = 3, .packet = {.seq = PACKET_SEQ, .history_words = 1}};
    struct ue_fault fault;
    size_t size;
    make_items(&fixture.context, items, hello, sizeof hello);
    assert_int_equal(
        ue_datagram_encode(&fixture.context, &datagram, fixture.bytes, sizeof fixture.bytes, &size, &fault), UE_OK);
    fixture.datagram = (struct ue_tracker_datagram){.frame = 40,
                                                    .time_ns = 12 * SECOND,
                                                    .context = &fixture.context,
                                                    .packet_ids = &fixture.packet_ids,
                                                    .bytes = fixture.bytes,
                                                    .size_bytes = size};
    datagram_facts_init(&fixture.facts);
    fixture.facts.begun_ns = 10 * SECOND;
    read_stage();
    return 0;
}

static int tear_down(void **state) {
    datagram_facts_clear(&fixture.facts);
    return 0;
}

static struct rules *rules_of(uint64_t seed, const char *const *texts) {
    struct rules *rules = rules_new(seed);
    char error[RULES_ERROR_BYTES];
    for (; *texts != NULL; texts++) {
        if (!rules_add(rules, *texts, error)) {
            fail_msg("%s: %s", *texts, error);
        }
    }
    return rules;
}

#define RULES(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct rules_outcome apply_once(const char *const *texts) {
    struct rules *rules = rules_of(1, texts);
    struct rules_outcome outcome;
    rules_apply(rules, &fixture.facts, &outcome, NULL);
    rules_free(rules);
    return outcome;
}

static bool drops(const char *text) {
    return apply_once(RULES(text)).is_dropped;
}

static void assert_drops(const char *text, bool expected) {
    if (drops(text) != expected) {
        fail_msg("'%s' should%s match", text, expected ? "" : " not");
    }
}

/* ---- conditions ---- */

/* A rule that drops the packet of the tests, and a rule that does not. */
struct rules_row {
    const char *holds, *fails;
};

static void assert_rows(const struct rules_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_drops(rows[i].holds, true);
        assert_drops(rows[i].fails, false);
    }
}

static void conditions_on_the_datagram_hold_or_not(void **state) {
    static const struct rules_row rows[] = {
        {"drop dir=c2s", "drop dir=s2c"},
        {"drop stream=2", "drop stream=0,1,3-9"},
        {"drop frame=40", "drop frame=41-"},
        {"drop id=16480-16490", "drop id=100"},
        {"drop seq=100", "drop seq=16484"},
        {"drop kind=packet", "drop kind=handshake,empty,ack,opaque,malformed,data"},
        {"drop time=2-2", "drop time=0-1.999"},
        {"drop time=-2.5", "drop time=2.001-"},
        {"drop size=1-255", "drop size=256-"},
        {"drop\tid=0x4064  dir=c2s ", "drop id=16484 dir=s2c"},
        {"drop", "pass"},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void conditions_on_a_bunch_hold_of_one_bunch(void **state) {
    static const struct rules_row rows[] = {
        {"drop channel=3", "drop channel=1,2,5-"},
        {"drop ch_seq=77", "drop ch_seq=0-4"}, /* an unreliable bunch has no sequence, not 0 */
        {"drop channel=3 reliable", "drop channel=4 reliable"},
        {"drop channel=4 unreliable", "drop channel=3 unreliable"},
        {"drop channel=3 ch_seq=77", "drop channel=0 ch_seq=77"},
        {"drop message=hello", "drop message=login,NetPing"},
        {"drop message=Login,Hello channel=0", "drop message=hello channel=3"},
        {"drop kind=open", "drop kind=close,partial,exports"},
        {"drop kind=open channel=0", "drop kind=open channel=3"},
        {"drop kind=packet channel=3", "drop kind=packet channel=9"},
    };
    assert_rows(rows, sizeof rows / sizeof *rows);
}

static void copies_are_those_of_the_tracker(void **state) {
    assert_drops("drop copy=1-", false);
    datagram_facts_on_event(&fixture.facts,
                            &(struct ue_observed_event){.type = UE_OBSERVED_BUNCH, .bunch = {.item = 0, .copy = 2}});
    datagram_facts_on_event(&fixture.facts,
                            &(struct ue_observed_event){.type = UE_OBSERVED_BUNCH, .bunch = {.item = 1, .copy = 1}});
    datagram_facts_on_event(&fixture.facts,
                            &(struct ue_observed_event){.type = UE_OBSERVED_BUNCH, .bunch = {.item = 2}});
    assert_drops("drop channel=0 copy=2", true);
    assert_drops("drop channel=3 copy=1", true);
    assert_drops("drop channel=3 copy=2-", false);
    assert_drops("drop channel=4 copy=0-", false);
    read_stage();
    assert_drops("drop copy=1-", false);
}

static void an_unknown_id_is_the_wire_number(void **state) {
    fixture.packet_ids.has_id = false;
    read_stage();
    assert_drops("drop id=100", true);
    datagram_facts_on_event(&fixture.facts,
                            &(struct ue_observed_event){.type = UE_OBSERVED_PACKET, .packet_id = PACKET_ID});
    assert_drops("drop id=100", false);
    assert_drops("drop id=16484", true);
}

static void a_time_before_the_start_matches_nothing(void **state) {
    fixture.datagram.time_ns = fixture.facts.begun_ns - SECOND;
    read_stage();
    assert_drops("drop", true);
    assert_drops("drop time=0-", false);
}

static void an_undecoded_datagram_has_no_numbers(void **state) {
    fixture.datagram.context = NULL;
    fixture.datagram.side = 1;
    read_stage();
    assert_drops("drop kind=data dir=s2c", true);
    assert_drops("drop id=0-", false);
    assert_drops("drop seq=0-", false);
    assert_drops("drop channel=0-", false);
    assert_int_equal(apply_once(RULES("corrupt@packet.seq")).flip_count, 0);
}

/* ---- actions ---- */

static void all_that_match_act_until_one_drops_or_passes(void **state) {
    struct rules_outcome outcome =
        apply_once(RULES("delay=50", "delay=0.5", "duplicate", "duplicate=2", "reorder", "corrupt=3", "pass", "drop"));
    assert_int_equal(outcome.delay_ns, 50500000);
    assert_int_equal(outcome.copies, 3);
    assert_int_equal(outcome.flip_count, 3);
    assert_true(outcome.is_reordered);
    assert_false(outcome.is_dropped);
    outcome = apply_once(RULES("delay=50", "corrupt", "drop", "pass", "reorder"));
    assert_true(outcome.is_dropped);
    assert_int_equal(outcome.delay_ns, 0);
    assert_int_equal(outcome.flip_count, 0);
    assert_false(outcome.is_reordered);
}

static void sums_have_bounds(void **state) {
    struct rules_outcome outcome =
        apply_once(RULES("duplicate=100", "duplicate=100", "delay=1e9", "delay=1e9", "corrupt=64", "corrupt=64"));
    assert_int_equal(outcome.copies, RULES_COPIES_MAX);
    assert_int_equal(outcome.delay_ns, RULES_DELAY_MAX_NS);
    assert_int_equal(outcome.flip_count, RULES_FLIPS_MAX);
    for (unsigned i = 0; i < outcome.flip_count; i++) {
        assert_true(outcome.flips[i] < fixture.facts.size_bytes * 8);
        for (unsigned j = 0; j < i; j++) {
            assert_int_not_equal(outcome.flips[i], outcome.flips[j]);
        }
    }
}

/* The channel sequences of the packet after the rules. */
static void decode_corrupted(const struct rules_outcome *outcome, uint32_t ch_seqs[3]) {
    uint8_t bytes[sizeof fixture.bytes];
    memcpy(bytes, fixture.bytes, sizeof bytes);
    rules_outcome_corrupt(outcome, bytes);
    struct ue_item items[3];
    struct ue_datagram datagram = {.items = items, .item_capacity = 3};
    struct ue_decode_result result;
    assert_int_equal(ue_datagram_decode(&fixture.context, bytes, fixture.facts.size_bytes, &datagram, NULL, &result),
                     UE_OK);
    assert_int_equal(datagram.item_count, 3);
    for (size_t i = 0; i < 3; i++) {
        ch_seqs[i] = items[i].bunch.ch_seq;
    }
}

static void a_field_is_corrupted_in_the_bunch_that_matched(void **state) {
    uint32_t ch_seqs[3];
    struct rules_outcome outcome = apply_once(RULES("corrupt@bunch.ch_seq=2 channel=3"));
    assert_int_equal(outcome.flip_count, 2);
    decode_corrupted(&outcome, ch_seqs);
    assert_int_equal(ch_seqs[0], 5);
    assert_int_equal(__builtin_popcount(ch_seqs[1] ^ 77), 2);
    outcome = apply_once(RULES("corrupt@bunch.ch_seq"));
    decode_corrupted(&outcome, ch_seqs);
    assert_int_equal(__builtin_popcount(ch_seqs[0] ^ 5), 1);
    assert_int_equal(ch_seqs[1], 77);
    assert_int_equal(apply_once(RULES("corrupt@bunch.ch_seq channel=4")).flip_count, 0);
    assert_int_equal(apply_once(RULES("corrupt@bunch.reliable=9 channel=3")).flip_count, 1);
}

static void outcomes_have_texts(void **state) {
    static const struct {
        struct rules_outcome outcome;
        const char *text;
    } rows[] = {
        {{0}, ""},
        {{.is_dropped = true}, "dropped"},
        {{.copies = 1}, "duplicated"},
        {{.copies = 3, .flips = {77}, .flip_count = 1}, "corrupted bit 77, duplicated 3 times"},
        {{.flips = {77, 80}, .flip_count = 2, .delay_ns = 50000000}, "corrupted bits 77, 80, delayed 50 ms"},
        {{.is_reordered = true, .delay_ns = 1500000}, "delayed 1.5 ms, moved after the next"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = rules_outcome_describe(&rows[i].outcome);
        assert_string_equal(text, rows[i].text);
        g_free(text);
    }
}

/* ---- chance and count ---- */

/* Whether the packet was dropped, for each of `count` applications of the rules. */
static void apply_often(uint64_t seed, const char *const *texts, bool *dropped, size_t count) {
    struct rules *rules = rules_of(seed, texts);
    for (size_t i = 0; i < count; i++) {
        struct rules_outcome outcome;
        rules_apply(rules, &fixture.facts, &outcome, NULL);
        dropped[i] = outcome.is_dropped;
    }
    rules_free(rules);
}

static size_t count_of(const bool *dropped, size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found += dropped[i];
    }
    return found;
}

static void chance_is_seeded_and_each_rule_has_its_own(void **state) {
    enum { COUNT = 10000 };
    static bool once[COUNT], again[COUNT], other[COUNT];
    apply_often(7, RULES("drop p=0.1"), once, COUNT);
    assert_true(is_within(count_of(once, COUNT), 900, 1100));
    apply_often(7, RULES("drop p=0.1", "corrupt p=0.5"), again, COUNT);
    assert_memory_equal(once, again, sizeof once);
    apply_often(8, RULES("drop p=0.1"), other, COUNT);
    assert_memory_not_equal(once, other, sizeof once);
    apply_often(7, RULES("drop p=0"), once, COUNT);
    assert_int_equal(count_of(once, COUNT), 0);
    apply_often(7, RULES("drop p=1"), once, COUNT);
    assert_int_equal(count_of(once, COUNT), COUNT);
}

static void counts_are_of_matching_packets(void **state) {
    static const struct {
        const char *text;
        bool dropped[6];
    } rows[] = {
        {"drop every=2", {0, 1, 0, 1, 0, 1}},
        {"drop max=2", {1, 1, 0, 0, 0, 0}},
        {"drop first=1", {1, 0, 0, 0, 0, 0}},
        {"drop every=2 max=1", {0, 1, 0, 0, 0, 0}},
    };
    bool dropped[6];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        apply_often(1, RULES("drop dir=s2c", rows[i].text), dropped, 6);
        assert_memory_equal(dropped, rows[i].dropped, sizeof dropped);
    }
    struct rules *rules = rules_of(1, RULES("drop dir=s2c", "  reorder  max=1 "));
    struct rules_outcome outcome;
    GString *names = g_string_new(NULL);
    rules_apply(rules, &fixture.facts, &outcome, names);
    rules_apply(rules, &fixture.facts, &outcome, names);
    assert_string_equal(names->str, "rule: reorder  max=1");
    g_string_free(names, TRUE);
    assert_int_equal(rules_count(rules), 2);
    assert_string_equal(rules_text(rules, 1), "reorder  max=1");
    assert_int_equal(rules_acted(rules, 0), 0);
    assert_int_equal(rules_acted(rules, 1), 1);
    rules_free(rules);
}

/* ---- invalid rules ---- */

static void an_error_for_an_unknown_field_names_similar_fields(void **state) {
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"corrupt@bunch.chseq", "'corrupt@bunch.chseq': unknown field; did you mean bunch.ch_seq?"},
        {"corrupt@ch_seq", "'corrupt@ch_seq': unknown field; did you mean bunch.ch_seq?"},
        {"corrupt@nonsense", "'corrupt@nonsense': unknown field; for example bunch.ch_seq"},
        {"corrupt@", "'corrupt@': unknown field; for example bunch.ch_seq"},
    };
    struct rules *rules = rules_new(1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char error[RULES_ERROR_BYTES] = "";
        assert_false(rules_add(rules, rows[i].text, error));
        assert_string_equal(error, rows[i].error);
    }
    rules_free(rules);
}

static void errors_name_the_wrong_word(void **state) {
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "''"},
        {"explode", "'explode'"},
        {"drop=1", "'drop=1'"},
        {"drop@bunch.ch_seq", "'drop@bunch.ch_seq'"},
        {"corrupt@no.such", "'corrupt@no.such'"},
        {"corrupt=0", "'corrupt=0'"},
        {"corrupt=65", "'corrupt=65'"},
        {"duplicate=101", "'duplicate=101'"},
        {"delay", "'delay'"},
        {"delay=-1", "'delay=-1'"},
        {"delay=1e10", "'delay=1e10'"},
        {"delay=nan", "'delay=nan'"},
        {"drop colour=red", "'colour=red'"},
        {"drop channel", "'channel'"},
        {"drop channel=", "'channel='"},
        {"drop channel=x", "'channel=x'"},
        {"drop id=5-4", "'id=5-4'"},
        {"drop id=1,,2", "'id=1,,2'"},
        {"drop dir=up", "'dir=up'"},
        {"drop kind=tiny", "'kind=tiny'"},
        {"drop reliable=1", "'reliable=1'"},
        {"drop message=hallo", "'message=hallo'"},
        {"drop time=1", "'time=1'"},
        {"drop time=3-2", "'time=3-2'"},
        {"drop p=1.1", "'p=1.1'"},
        {"drop every=0", "'every=0'"},
        {"drop channel=1 channel=2", "'channel=2'"},
        {"drop drop", "'drop'"},
        {"drop copy=1 unreliable", "'unreliable'"},
        {"drop ch_seq=5 unreliable", "'unreliable'"},
        {"drop unreliable channel=2 reliable", "'unreliable'"},
    };
    struct rules *rules = rules_new(1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char error[RULES_ERROR_BYTES] = "";
        if (rules_add(rules, rows[i].text, error) || strstr(error, rows[i].word) != error) {
            fail_msg("'%s': %s", rows[i].text, error);
        }
    }
    assert_int_equal(rules_count(rules), 0);
    rules_free(rules);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void files_hold_a_rule_a_line(void **state) {
    char path[] = "/tmp/uerudp-rules-XXXXXX";
    char error[RULES_ERROR_BYTES] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_file(path, "# nothing\n\n  drop id=7 # lucky\r\nreorder\n");
    struct rules *rules = rules_new(1);
    assert_true(rules_read_file(rules, path, error));
    assert_int_equal(rules_count(rules), 2);
    assert_string_equal(rules_text(rules, 0), "drop id=7");
    write_file(path, "drop\n\nexplode\n");
    assert_false(rules_read_file(rules, path, error));
    assert_non_null(strstr(error, path));
    assert_non_null(strstr(error, ":3: 'explode'"));
    remove(path);
    assert_false(rules_read_file(rules, path, error));
    assert_non_null(strstr(error, path));
    rules_free(rules);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(conditions_on_the_datagram_hold_or_not),
        TEST(conditions_on_a_bunch_hold_of_one_bunch),
        TEST(copies_are_those_of_the_tracker),
        TEST(an_unknown_id_is_the_wire_number),
        TEST(a_time_before_the_start_matches_nothing),
        TEST(an_undecoded_datagram_has_no_numbers),
        TEST(all_that_match_act_until_one_drops_or_passes),
        TEST(sums_have_bounds),
        TEST(a_field_is_corrupted_in_the_bunch_that_matched),
        TEST(outcomes_have_texts),
        TEST(chance_is_seeded_and_each_rule_has_its_own),
        TEST(counts_are_of_matching_packets),
        TEST(an_error_for_an_unknown_field_names_similar_fields),
        TEST(errors_name_the_wrong_word),
        TEST(files_hold_a_rule_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
