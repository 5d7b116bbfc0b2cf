/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/taps/export_objects.h"

#include <epan/export_object.h>
#include <epan/to_str.h>

#define NAME_MAX_LENGTH 32 /* characters of a subject in a file name */

static int object_tap;

static const char *sender_name(uint8_t direction) {
    static const char *const names[] = {"unknown", "client", "server"};
    return names[direction];
}

/* Keeps letters and digits: the name comes from the wire. */
static void safe_name(const char *name, char safe[NAME_MAX_LENGTH + 1]) {
    size_t length = 0;
    for (; *name != '\0' && length < NAME_MAX_LENGTH; name++) {
        safe[length++] = g_ascii_isalnum(*name) ? *name : '_';
    }
    safe[length] = '\0';
}

/* The class of the channel's actor, else the name of the channel. */
static const char *subject_of(const struct uerudp_tap_message *message) {
    const char *name = message->actor != NULL ? message->actor : message->channel_name;
    return name != NULL ? name : "unknown";
}

/* The number of bits shows how much of the last byte is used. */
static char *file_name(const packet_info *pinfo, const struct uerudp_tap_message *message) {
    char subject[NAME_MAX_LENGTH + 1];
    safe_name(subject_of(message), subject);
    return g_strdup_printf("stream%u-frame%06u-%u-%s-channel%u-%s-%zubits.bin", message->stream, pinfo->num,
                           message->item, sender_name(message->direction), message->channel, subject, message->bits);
}

static char *sender_address(const packet_info *pinfo) {
    char *sender = address_to_str(NULL, &pinfo->src);
    char *text = g_strdup_printf("%s:%u", sender, pinfo->srcport);
    wmem_free(NULL, sender);
    return text;
}

static tap_packet_status add_object(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_) {
    const export_object_list_t *objects = list;
    const struct uerudp_tap_message *message = data;
    export_object_entry_t *entry;
    if (message->bits == 0) {
        return TAP_PACKET_DONT_REDRAW;
    }
    entry = g_new0(export_object_entry_t, 1);
    entry->pkt_num = pinfo->num;
    entry->hostname = sender_address(pinfo);
    entry->content_type = g_strdup(subject_of(message));
    entry->filename = file_name(pinfo, message);
    entry->payload_len = tvb_captured_length(message->tvb);
    entry->payload_data = g_malloc(entry->payload_len);
    tvb_memcpy(message->tvb, entry->payload_data, 0, entry->payload_len);
    objects->add_entry(objects->gui_data, entry);
    return TAP_PACKET_REDRAW;
}

void uerudp_export_objects_register(int proto) {
    object_tap = register_export_object(proto, add_object, NULL);
}

bool uerudp_export_objects_is_wanted(void) {
    return have_tap_listener(object_tap);
}

void uerudp_export_objects_queue(packet_info *pinfo, const struct uerudp_tap_message *message) {
    tap_queue_packet(object_tap, pinfo, message);
}
