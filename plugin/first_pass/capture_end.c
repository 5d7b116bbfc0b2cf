/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/capture_end.h"

#include <epan/packet.h>

/* Wireshark adds a layer to each frame for the dissector of a protocol, and removes it when the dissector returns 0. */
#define NO_PROTOCOL (-1)

/* The first frame of the file that was read last. It is kept when state is cleared: another file has another first
   frame. */
static struct {
    const frame_data *frame; /* is compared, never read: it may be that of a closed file */
    nstime_t captured;       /* time, without the user's time shift */
} first;
static bool was_reached;

/* Runs after the dissection of every frame that is not ignored; a frame can only be ignored after it was shown. */
static int on_frame(tvbuff_t *tvb _U_, packet_info *pinfo, proto_tree *tree _U_, void *data _U_) {
    const frame_data *frame = pinfo->fd;
    nstime_t captured;
    if (frame->num != 1 || frame->visited) {
        return 0;
    }
    nstime_delta(&captured, &frame->abs_ts, &frame->shift_offset);
    if (frame != first.frame || nstime_cmp(&captured, &first.captured) != 0) {
        first.frame = frame;
        first.captured = captured;
        was_reached = false;
    }
    return 0;
}

static void on_end(void) {
    was_reached = true;
}

void uerudp_capture_end_register(void) {
    register_postseq_cleanup_routine(on_end);
    register_postdissector(create_dissector_handle(on_frame, NO_PROTOCOL));
}

bool uerudp_capture_end_was_reached(void) {
    return was_reached;
}
