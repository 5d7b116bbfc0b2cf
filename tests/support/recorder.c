/* SPDX-License-Identifier: MIT */
#include "tests/support/recorder.h"

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct recorder *r = user;
    if (r->group_count == RECORDER_GROUPS || r->depth == RECORDER_DEPTH) {
        r->overflow = true;
        return;
    }
    size_t index = r->group_count++;
    r->groups[index] = (struct recorded_group){.kind = group,
                                               .parent = r->open[r->depth - 1],
                                               .begin_bit = bit,
                                               .end_bit = bit,
                                               .first_record = r->count,
                                               .is_open = true};
    r->open[r->depth++] = index;
}

static void on_field(void *user, const struct ue_record *record) {
    struct recorder *r = user;
    if (r->count == RECORDER_RECORDS) {
        r->overflow = true;
        return;
    }
    r->records[r->count++] = (struct recorded){*record, r->open[r->depth - 1]};
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    struct recorder *r = user;
    struct recorded_group *open = &r->groups[r->open[r->depth - 1]];
    if (r->depth == 1 || open->kind != group) {
        r->overflow = true;
        return;
    }
    open->end_bit = bit;
    open->last_record = r->count;
    open->is_open = false;
    r->depth--;
}

struct ue_trace recorder_sink(struct recorder *recorder) {
    recorder->count = 0;
    recorder->group_count = 1;
    recorder->open[0] = 0;
    recorder->depth = 1;
    recorder->overflow = false;
    recorder->groups[0] = (struct recorded_group){.is_open = true};
    return (struct ue_trace){on_begin, on_field, on_end, recorder};
}

static void store_packet_id(void *user, const struct ue_record *record) {
    int64_t *id = user;
    if (record->field == UE_F_PACKET_ID) {
        *id = (int64_t)record->number;
    }
}

struct ue_trace recorder_packet_id_sink(int64_t *id) {
    return (struct ue_trace){.field = store_packet_id, .user = id};
}

/* The type of the oldest handshake layouts is not on the wire, but a builder reads it. */
static bool is_replayed(const struct ue_record *record) {
    return !record->generated || record->field == UE_F_HANDSHAKE_TYPE;
}

const struct ue_record *recorder_find(const struct recorder *recorder, size_t group, enum ue_field field,
                                      size_t index) {
    for (size_t i = 0; i < recorder->count; i++) {
        const struct recorded *at = &recorder->records[i];
        if (at->group == group && at->record.field == field && !at->record.generated && index-- == 0) {
            return &at->record;
        }
    }
    return NULL;
}

static bool is_inside_payload(const struct recorder *r, size_t group) {
    for (; group != 0; group = r->groups[group].parent) {
        if (r->groups[group].kind == UE_GROUP_MESSAGE || r->groups[group].kind == UE_GROUP_OPENED) {
            return true;
        }
    }
    return false;
}

bool recorder_covers(const struct recorder *recorder, size_t bits) {
    size_t at = 0;
    for (size_t i = 0; i < recorder->count; i++) {
        const struct recorded *entry = &recorder->records[i];
        const struct ue_record *record = &entry->record;
        bool is_repeated = record->generated || record->field == UE_F_PACKET_HISTORY_FLUSH ||
                           record->field == UE_F_CONTROL_OPAQUE || is_inside_payload(recorder, entry->group);
        if (is_repeated) {
            continue;
        }
        bool padded = record->field == UE_F_TERMINATOR && i > 0 &&
                      recorder->records[i - 1].record.field == UE_F_TERMINATOR && record->bit - at < 8;
        if (record->bit != at && !padded) {
            return false;
        }
        at = record->bit + record->bits;
    }
    return at == bits;
}

/* ---- playback ---- */

static bool is_in_group(const struct playback *p, size_t group) {
    const struct recorded_group *g = &p->recorder->groups[group];
    if (group == p->group) {
        return true;
    }
    if (group == 0 || g->parent != p->group) {
        return false;
    }
    return p->group == 0 ? g->kind == UE_GROUP_HANDSHAKE || g->kind == UE_GROUP_PACKET : g->kind == UE_GROUP_UNIQUE_ID;
}

/* The next record of a field; after the last one, the last one again. */
static const struct ue_record *find_next(const struct playback *p, enum ue_field field) {
    const struct ue_record *found = NULL;
    size_t skip = p->read_count[field];
    const struct recorded_group *group = &p->recorder->groups[p->group];
    size_t last = p->group == 0 ? p->recorder->count : group->last_record;
    for (size_t i = group->first_record; i < last; i++) {
        const struct recorded *at = &p->recorder->records[i];
        if (at->record.field == field && is_replayed(&at->record) && is_in_group(p, at->group)) {
            found = &at->record;
            if (skip-- == 0) {
                break;
            }
        }
    }
    return found;
}

static bool get_record(void *user, struct ue_record *record) {
    struct playback *p = user;
    const struct ue_record *found = find_next(p, record->field);
    if (found == NULL) {
        return false;
    }
    p->read_count[record->field]++;
    record->number = found->number;
    record->text = found->text;
    return true;
}

static size_t count_recorded(const struct playback *p, enum ue_field field) {
    size_t count = 0;
    for (size_t i = 0; i < p->recorder->count; i++) {
        count += p->recorder->records[i].record.field == field && is_in_group(p, p->recorder->records[i].group);
    }
    return count;
}

/* The byte-wise AES-GCM form has an IV or, in its place, a zero byte; nothing follows the IV. */
static bool has_more(void *user, enum ue_field field) {
    const struct playback *p = user;
    if (field == UE_F_HANDLER_IV && p->read_count[UE_F_HANDLER_PLAIN] < count_recorded(p, UE_F_HANDLER_PLAIN)) {
        return false;
    }
    return find_next(p, field) != NULL;
}

struct ue_field_source playback_source(struct playback *playback, const struct recorder *recorder, size_t group) {
    *playback = (struct playback){.recorder = recorder, .group = group};
    return (struct ue_field_source){get_record, has_more, playback};
}
