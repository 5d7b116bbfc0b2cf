/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers Wireshark's statistics and exports that listen to the taps. */
#ifndef UERUDP_PLUGIN_TAPS_LISTENERS_H
#define UERUDP_PLUGIN_TAPS_LISTENERS_H

void uerudp_conversation_table_register(int proto); /* -z conv,uerudp and -z endpoints,uerudp */
void uerudp_stats_tree_register(void);              /* -z uerudp,tree and others, see docs/wireshark.md */
void uerudp_bandwidth_tree_register(void);          /* -z uerudp_bandwidth,tree */
void uerudp_channel_table_register(void);           /* -z uerudp,channels */
void uerudp_talker_table_register(void);            /* -z uerudp,talkers */
void uerudp_response_time_register(int proto);      /* -z uerudp,srt */
void uerudp_follow_stream_register(int proto);      /* -z follow,uerudp,MODE,STREAM */

#endif
