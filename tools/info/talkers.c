/* SPDX-License-Identifier: MIT */
#include "tools/info/talkers.h"

#include <string.h>

/* State while a message is counted. */
struct talker_count {
    struct info_talkers *talkers;
    const struct ue_observed_event *event;
};

static struct info_talker *find(const struct talker_count *counting, const struct ue_voice *voice) {
    struct info_talkers *talkers = counting->talkers;
    const struct ue_observed_event *event = counting->event;
    struct info_talker talker = {.side = (uint8_t)event->side, .first_frame = event->frame, .first_ns = event->time_ns};
    ue_talker_name(voice, talker.counts.sender);
    for (guint i = 0; talkers->rows != NULL && i < talkers->rows->len; i++) {
        struct info_talker *row = &g_array_index(talkers->rows, struct info_talker, i);
        if (row->side == talker.side && strcmp(row->counts.sender, talker.counts.sender) == 0) {
            return row;
        }
    }
    if (talkers->rows == NULL) {
        talkers->rows = g_array_new(FALSE, FALSE, sizeof(struct info_talker));
    }
    if (talkers->rows->len == INFO_TALKERS_MAX) {
        return NULL;
    }
    g_array_append_val(talkers->rows, talker);
    return &g_array_index(talkers->rows, struct info_talker, talkers->rows->len - 1);
}

static void count(void *user, const struct ue_voice *voice) {
    const struct talker_count *counting = user;
    struct info_talker *talker = find(counting, voice);
    if (talker != NULL) {
        ue_talker_add(&talker->counts, voice, counting->event->time_ns);
    } else {
        counting->talkers->more++;
    }
}

void info_talkers_on_message(struct info_talkers *talkers, const struct ue_observed_event *event,
                             const struct ue_context *context) {
    struct talker_count counting = {.talkers = talkers, .event = event};
    ue_voice_visit(context, event->message.content.data, count, &counting);
}

void info_talkers_clear(struct info_talkers *talkers) {
    if (talkers->rows != NULL) {
        g_array_unref(talkers->rows);
        talkers->rows = NULL;
    }
}
