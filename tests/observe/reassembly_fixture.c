/* SPDX-License-Identifier: MIT */
#include "tests/observe/reassembly_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the transcript ---- */

static void say_content(struct reassembly_fixture *fixture, const struct ue_content *content) {
    static uint8_t bytes[UE_REASSEMBLY_BYTES_MAX];
    ue_view_copy(content->data, bytes);
    tracker_fixture_print(&fixture->tracker, "%s%s%s%s '", content->open ? " open" : "", content->close ? " close" : "",
                          content->has_exports ? " exports" : "", content->has_mapped ? " mapped" : "");
    for (size_t i = 0; i < ue_bits_bytes(content->data.bits) && i < 40; i++) {
        tracker_fixture_print(&fixture->tracker, bytes[i] >= 32 && bytes[i] < 127 ? "%c" : "<%02x>", bytes[i]);
    }
    tracker_fixture_print(&fixture->tracker, "' %" PRIu64, (uint64_t)content->data.bits);
}

static void on_event(void *user, const struct ue_observed_event *event) {
    static const char *const types[] = {"whole", "waits", "given up"};
    static const char *const kinds[] = {"unknown", "control", "actor", "voice", "data-stream"};
    static const char *const problems[] = {"",        "new began", "no beginning",  "no end",    "mixed",
                                           "missing", "unaligned", "final exports", "too large", "no memory"};
    struct reassembly_fixture *fixture = user;
    assert_int_equal(event->frame, fixture->tracker.frame);
    assert_true(ue_reassembly_bytes(fixture->reassembly) <= UE_REASSEMBLY_BYTES_MAX);
    tracker_fixture_print(&fixture->tracker, "%d %s", (int)event->frame, types[event->type - UE_OBSERVED_MESSAGE]);
    if (event->type != UE_OBSERVED_ABANDONED) {
        tracker_fixture_print(&fixture->tracker, " %s%s", kinds[event->message.content.kind],
                              event->message.is_kind_guessed ? "?" : "");
    }
    if (event->type == UE_OBSERVED_MESSAGE) {
        tracker_fixture_print(&fixture->tracker, "%s", event->message.content.is_custom_exports ? " custom" : "");
        say_content(fixture, &event->message.content);
    }
    tracker_fixture_print(&fixture->tracker, " of");
    for (uint32_t i = 0; i < event->message.fragment_count && i < 8; i++) {
        const struct ue_fragment *fragment = &event->message.fragments[i];
        tracker_fixture_print(&fixture->tracker, " %d.%u(%u)", (int)fragment->frame, fragment->item, fragment->bits);
    }
    tracker_fixture_print(&fixture->tracker, "%s%s\n", event->message.problem != UE_REASSEMBLY_NO_PROBLEM ? ": " : "",
                          problems[event->message.problem]);
}

static void pass_on(void *user, const struct ue_observed_event *event) {
    struct reassembly_fixture *fixture = user;
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = fixture};
    ue_reassembly_feed(fixture->reassembly, &fixture->tracker.x[event->side], event, &callbacks);
}

void reassembly_fixture_init(struct reassembly_fixture *fixture, const char *release, size_t bytes_max) {
    tracker_fixture_init(&fixture->tracker, release, bytes_max);
    fixture->tracker.listener = (struct ue_observer_callbacks){.event = pass_on, .user = fixture};
    fixture->reassembly = ue_reassembly_new(&fixture->tracker.memory.allocator);
}

void reassembly_fixture_free(struct reassembly_fixture *fixture) {
    ue_reassembly_free(fixture->reassembly);
    tracker_fixture_free(&fixture->tracker);
}

void reassembly_fixture_clear(struct reassembly_fixture *fixture) {
    fixture->tracker.length = 0;
    fixture->tracker.text[0] = '\0';
}

/* ---- what is sent ---- */

void reassembly_fixture_flush(struct reassembly_fixture *fixture, unsigned side, int64_t id) {
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = fixture};
    tracker_fixture_packet(&fixture->tracker, side, id, 0, 0);
    ue_reassembly_end_datagram(fixture->reassembly, &callbacks);
}

struct ue_bunch *reassembly_fixture_bunch(struct ue_bunch *bunch, const char *flags, const char *text) {
    bunch->data = (struct ue_view){(const uint8_t *)text, 0, 8 * strlen(text)};
    bunch->partial = strpbrk(flags, "picf") != NULL;
    bunch->partial_initial = strchr(flags, 'i') != NULL;
    bunch->partial_exports_final = strchr(flags, 'c') != NULL;
    bunch->partial_final = strchr(flags, 'f') != NULL;
    bunch->has_exports = strchr(flags, 'x') != NULL;
    bunch->has_mapped = strchr(flags, 'm') != NULL;
    bunch->open = strchr(flags, 'o') != NULL;
    bunch->close = strchr(flags, 'k') != NULL;
    bunch->control = bunch->open || bunch->close;
    if (bunch->open && !bunch->reliable) {
        bunch->has_name = true;
        bunch->name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    }
    return bunch;
}
