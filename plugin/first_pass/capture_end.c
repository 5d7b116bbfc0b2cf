/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/capture_end.h"

#include <epan/column-info.h>
#include <epan/frame_data.h>
#include <epan/packet.h>

static bool was_reached;
static uint32_t frames; /* of the file, as far as they were dissected */

/* Plugins can ask only for the column "delta time", which is 0 unless the frame before is known and has a time. */
static bool next_is_known(const packet_info *pinfo) {
    const frame_data first = {.num = 1};
    const frame_data after_next = {.num = pinfo->num + 2, .abs_ts = {.secs = INT32_MIN}};
    return frame_data_compare(pinfo->epan, &after_next, &first, COL_DELTA_TIME) < 0;
}

/* Wireshark clears the state of dissectors alike when it opens a file and when it dissects all frames again. But it
   dissects a frame that it reads before it reads the next one. After a file of one frame, the second one shows it. */
static bool is_of_another_file(const packet_info *pinfo) {
    return pinfo->num > frames || (pinfo->num == 1 && frames > 1 && !next_is_known(pinfo));
}

/* Runs after the dissection of every frame that is not ignored; a frame can only be ignored after it was shown. */
static int on_frame(tvbuff_t *tvb _U_, packet_info *pinfo, proto_tree *tree _U_, void *data _U_) {
    if (!pinfo->fd->visited) {
        was_reached = was_reached && !is_of_another_file(pinfo);
        frames = was_reached ? frames : pinfo->num;
    }
    return 0;
}

static void on_end(void) {
    was_reached = true;
}

/* Wireshark calls no dissector after frames unless one of a protocol is enabled. For one that is a name only it adds no
   layer to each frame. */
void uerudp_capture_end_register(int protocol) {
    int name =
        proto_register_protocol_in_name_only("Unreal Engine Reliable UDP, end of the capture", "UERUDP end of capture",
                                             "uerudp.capture_end", protocol, FT_PROTOCOL);
    register_postseq_cleanup_routine(on_end);
    register_postdissector(create_dissector_handle(on_frame, name));
}

bool uerudp_capture_end_was_reached(void) {
    return was_reached;
}
