/* SPDX-License-Identifier: MIT */
#include "tests/support/content_tally.h"

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct content_tally *t = user;
    t->groups[group]++;
    t->depth++;
    if (bit > t->end_bit) {
        t->problem = "a group begins after the end of the message";
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct content_tally *t = user;
    if (t->depth-- == 0 || bit > t->end_bit) {
        t->problem = "a group ends that did not begin, or ends after the message";
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct content_tally *t = user;
    size_t end = record->bit + record->bits;
    t->fields[record->field]++;
    if (end > t->end_bit) {
        t->problem = "a record extends past the end of the message";
    }
    if (!record->generated && record->bit > t->traced_bit) {
        t->problem = "no record covers the bits between two records";
    }
    if (!record->generated && end > t->traced_bit) {
        t->traced_bit = end;
    }
}

enum ue_status content_tally_add(struct content_tally *tally, const struct ue_context *context,
                                 const struct ue_content *content, const struct ue_guid_names *names) {
    const struct ue_trace sink = {on_begin, on_field, on_end, tally};
    struct ue_fault fault;
    tally->traced_bit = content->data.bit;
    tally->end_bit = content->data.bit + content->data.bits;
    tally->depth = 0;
    enum ue_status status = ue_content_trace(context, content, names, &sink, &fault);
    tally->messages++;
    tally->faults += status != UE_OK;
    if (tally->traced_bit != tally->end_bit || tally->depth != 0) {
        tally->problem = "the trace does not end with the message";
    }
    if (fault.status != status || (status != UE_OK && (fault.bit < content->data.bit || fault.bit > tally->end_bit))) {
        tally->problem = "the fault lies outside the message";
    }
    return status;
}
