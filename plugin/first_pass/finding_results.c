/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/finding_results.h"

#include <epan/packet.h>
#include <epan/wmem_scopes.h>

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/sequence_analysis.h"

/* The findings of a stream. */
struct stream_findings {
    struct ue_findings *findings;    /* NULL: no memory, or finished */
    struct uerudp_frame_state *last; /* state of the latest datagram */
};

static GArray *streams;       /* struct stream_findings by stream number; NULL: no stream yet */
static wmem_array_t *results; /* struct uerudp_finding_result; in file scope; NULL: none */

/* The datagram that is handled. */
static struct stream_findings *current;
static const struct ue_observed_datagram *observed;

static void *resize(void *user _U_, void *old, size_t size_bytes) {
    return g_realloc(old, size_bytes);
}

static void clear(void) {
    for (guint i = 0; streams != NULL && i < streams->len; i++) {
        ue_findings_free(g_array_index(streams, struct stream_findings, i).findings);
    }
    g_clear_pointer(&streams, g_array_unref);
    results = NULL;
    current = NULL;
}

void uerudp_finding_results_register(void) {
    register_init_routine(clear);
    register_cleanup_routine(clear);
}

static void store(struct uerudp_frame_state *state, const struct ue_finding *finding) {
    char text[UE_FINDING_TEXT_BYTES];
    ue_finding_text(finding, text, sizeof text);
    const struct uerudp_finding_result result = {finding->id, wmem_strdup(wmem_file_scope(), text),
                                                 finding->values[UE_VALUE_SPAN].at_least};
    if (results == NULL) {
        results = wmem_array_new(wmem_file_scope(), sizeof result);
    }
    wmem_array_append_one(results, result);
    uerudp_analysis_results_add(state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_FINDING,
                                                                        .number = wmem_array_get_count(results) - 1});
}

/* On the first frame that the finding names, else on the last datagram of the stream. Every malformed datagram has its
   own item. */
static void on_finding(void *user _U_, const struct ue_finding *finding) {
    struct uerudp_frame_state *state = NULL;
    if (finding->id == UE_FINDING_MALFORMED) {
        return;
    }
    if (finding->frame_count != 0) {
        state = uerudp_sequence_analysis_find_datagram(current->last, finding->frames[0], NULL);
    }
    store(state != NULL ? state : current->last, finding);
}

static const struct ue_findings_callbacks callbacks = {.finding = on_finding};

void uerudp_finding_results_begin(const struct ue_observed_datagram *datagram, struct uerudp_frame_state *state) {
    const guint number = datagram->record.connection->stream;
    if (streams == NULL) {
        streams = g_array_new(FALSE, TRUE, sizeof(struct stream_findings));
    }
    if (number >= streams->len) {
        g_array_set_size(streams, number + 1);
    }
    current = &g_array_index(streams, struct stream_findings, number);
    observed = datagram;
    if (current->last == NULL) {
        current->findings = ue_findings_new(&(const struct ue_allocator){resize, NULL});
    }
    current->last = state;
    if (current->findings != NULL) {
        ue_findings_on_datagram(current->findings, datagram, &callbacks);
    }
}

void uerudp_finding_results_add_event(const struct ue_observed_event *event) {
    if (current->findings != NULL) {
        ue_findings_on_event(current->findings, &observed->context, event, &callbacks);
    }
}

/* What the tracker has read to the end is not decoded again. */
void uerudp_finding_results_end(const struct ue_observed_items *items) {
    const struct ue_tracker *tracker = ue_observer_tracker(observed->record.connection);
    struct ue_decode_result result = {.item_count = items->count};
    if (current->findings == NULL) {
        return;
    }
    if (!items->is_whole || observed->is_cut) {
        ue_datagram_decode(&observed->context, observed->bytes, observed->size_bytes, NULL, NULL, &result);
    }
    ue_findings_on_result(current->findings, observed, &result, &callbacks);
    for (unsigned side = 0; side < 2 && tracker != NULL; side++) {
        ue_findings_on_counts(current->findings, side, ue_tracker_counts(tracker, side));
    }
}

void uerudp_finding_results_finish(int64_t end_ns) {
    for (guint i = 0; streams != NULL && i < streams->len; i++) {
        current = &g_array_index(streams, struct stream_findings, i);
        if (current->findings != NULL) {
            ue_findings_finish(current->findings, end_ns, &callbacks);
            ue_findings_free(current->findings);
            current->findings = NULL;
        }
    }
}

const struct uerudp_finding_result *uerudp_finding_results_at(uint32_t number) {
    return wmem_array_index(results, number);
}

int64_t uerudp_finding_results_span(const struct uerudp_finding_result *finding) {
    const enum ue_field field = ue_finding_rows[finding->id].field;
    return field != UE_F_NONE && ue_field_row(field)->kind == UE_KIND_SPAN ? finding->span_ns : -1;
}
