/* SPDX-License-Identifier: MIT */
#include "tools/info/talkers.h"

#include <string.h>

#include <uerudp/text.h>
#include <uerudp/voice.h>

static struct info_talker *find(struct info_talkers *talkers, const struct ue_observed_event *event,
                                struct ue_text sender) {
    struct info_talker talker = {.side = (uint8_t)event->side, .first_frame = event->frame, .first_ns = event->time_ns};
    ue_text_to_utf8(sender, talker.sender, sizeof talker.sender);
    for (guint i = 0; talkers->rows != NULL && i < talkers->rows->len; i++) {
        struct info_talker *row = &g_array_index(talkers->rows, struct info_talker, i);
        if (row->side == talker.side && strcmp(row->sender, talker.sender) == 0) {
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

static void count(struct info_talker *talker, const struct ue_observed_event *event, const struct ue_voice *voice) {
    int64_t pause_ns = event->time_ns - talker->last_ns;
    if (talker->packets == 0 || pause_ns >= INFO_SPURT_PAUSE_NS) {
        talker->spurts++;
    } else if (pause_ns > 0) {
        talker->talked_ns += pause_ns;
    }
    talker->last_ns = event->time_ns;
    talker->packets++;
    talker->bytes += voice->data.bits / 8;
}

/* Whether the message consists of voice packets and nothing else. */
static bool is_voice(struct ue_view data, const struct ue_context *context) {
    struct ue_fault fault;
    struct ue_voice voice;
    size_t bit = 0;
    while (bit < data.bits && ue_voice_decode(context, data, &bit, &voice, &fault) == UE_OK) {
    }
    return data.bits != 0 && bit == data.bits;
}

void info_talkers_on_message(struct info_talkers *talkers, const struct ue_observed_event *event,
                             const struct ue_context *context) {
    struct ue_view data = event->message.content.data;
    struct ue_fault fault;
    struct ue_voice voice;
    if (event->message.is_kind_guessed && !is_voice(data, context)) {
        return;
    }
    for (size_t bit = 0; bit < data.bits && ue_voice_decode(context, data, &bit, &voice, &fault) == UE_OK;) {
        struct info_talker *talker = find(talkers, event, voice.sender);
        if (talker != NULL) {
            count(talker, event, &voice);
        } else {
            talkers->more++;
        }
    }
}

void info_talkers_clear(struct info_talkers *talkers) {
    if (talkers->rows != NULL) {
        g_array_unref(talkers->rows);
        talkers->rows = NULL;
    }
}
