/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/package_map_exports.h"

#include <string.h>

#include "tools/endpoint/core/connection.h"

#define EXPORT_BUNCHES_MAX 16

/* The bunches of exports that precede a message, and the positions in the map of their objects. */
struct export_list {
    struct ue_content_writer writers[EXPORT_BUNCHES_MAX];
    struct ue_view views[EXPORT_BUNCHES_MAX];
    uint32_t count;
    uint32_t objects[UE_REFERENCES_MAX];
    uint32_t object_count;
};

static bool reserve_states(struct ue_replicator *r) {
    uint32_t count = r->map->count;
    if (count <= r->export_count) {
        return true;
    }
    struct ue_export_state *states = ue_share_resize(&r->map->share, r->exports, count * sizeof *states);
    if (states == NULL) {
        return false;
    }
    memset(states + r->export_count, 0, (count - r->export_count) * sizeof *states);
    r->exports = states;
    r->export_count = count;
    return true;
}

/* An object is exported with every message that refers to it until a packet with the export is acknowledged. */
static void find_unknown(struct ue_replicator *r, const struct ue_content_writer *w, struct export_list *list) {
    uint32_t count = ue_has_internal_ack(&r->conn->common) ? 0 : w->reference_count; /* a replay has them elsewhere */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = ue_package_map_find(r->map, w->references[i]);
        if (index < r->export_count && !r->exports[index].is_acked) {
            list->objects[list->object_count++] = index;
        }
    }
}

/* Writes as many objects as fit into one bunch. Returns their number. */
static uint32_t write_bunch(struct ue_replicator *r, const struct export_list *list, uint32_t first,
                            struct ue_content_writer *w) {
    uint32_t count = list->object_count - first;
    for (; count > 0; count--) {
        ue_content_writer_init(w, &r->map->share, &r->map->context);
        ue_content_write_export_head(w, count);
        for (uint32_t i = first; i < first + count; i++) {
            ue_content_write_export(w, r->map, list->objects[i]);
        }
        if (w->status != UE_OK || w->bits <= r->conn->common.limits.single_bits) {
            return count;
        }
        ue_content_writer_free(w);
    }
    return 0;
}

static enum ue_status write_exports(struct ue_replicator *r, struct export_list *list) {
    for (uint32_t first = 0; first < list->object_count;) {
        if (list->count == EXPORT_BUNCHES_MAX) {
            return UE_E_LENGTH;
        }
        struct ue_content_writer *w = &list->writers[list->count];
        uint32_t written = write_bunch(r, list, first, w);
        if (written == 0) {
            return UE_E_LENGTH;
        }
        list->views[list->count++] = ue_content_writer_view(w);
        first += written;
        if (w->status != UE_OK) {
            return w->status;
        }
    }
    return UE_OK;
}

/* An export that waits for its report is not forgotten for a newer one: else an object that each message names would
   never be known. */
static void record_exports(struct ue_replicator *r, const struct export_list *list, struct ue_packet_range range) {
    for (uint32_t i = 0; i < list->object_count; i++) {
        struct ue_export_state *state = &r->exports[list->objects[i]];
        if (!state->is_pending) {
            *state = (struct ue_export_state){.range = range, .is_pending = true};
        }
    }
    r->counters.exports += list->object_count;
}

/* endpoint.md 37.7. */
enum ue_status ue_replicator_send(struct ue_replicator *r, uint64_t now_ns, const struct ue_outgoing *bunch,
                                  const struct ue_content_writer *w, struct ue_packet_range *range) {
    struct export_list *list = ue_share_alloc(&r->map->share, sizeof *list);
    if (list == NULL || !reserve_states(r)) {
        ue_share_free_block(&r->map->share, list);
        return UE_E_FULL;
    }
    list->count = list->object_count = 0;
    find_unknown(r, w, list);
    enum ue_status status = write_exports(r, list);
    struct ue_packet_range packets;
    struct ue_outgoing whole = *bunch;
    whole.data = ue_content_writer_view(w);
    whole.exports = list->views;
    whole.export_count = list->count;
    whole.merge &= list->count == 0;
    status = status == UE_OK ? ue_conn_send(r->conn, now_ns, &whole, &packets) : status;
    if (status == UE_OK) {
        record_exports(r, list, packets);
    }
    if (status == UE_OK && range != NULL) {
        *range = packets;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        ue_content_writer_free(&list->writers[i]);
    }
    ue_share_free_block(&r->map->share, list);
    return status;
}

void ue_package_map_exports_handle_report(struct ue_replicator *r, int64_t packet_id, bool delivered) {
    for (uint32_t i = 0; i < r->export_count; i++) {
        struct ue_export_state *e = &r->exports[i];
        if (e->is_pending && packet_id >= e->range.first && packet_id <= e->range.last) {
            e->is_pending = delivered && packet_id < e->range.last;
            e->is_acked |= delivered && packet_id == e->range.last;
        }
    }
}
