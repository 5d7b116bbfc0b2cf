/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wireshark's tools that listen to our taps; each call registers one of them, before any capture is read. */
#ifndef UERUDP_PLUGIN_TAPS_LISTENERS_H
#define UERUDP_PLUGIN_TAPS_LISTENERS_H

void ue_table_register(int proto);  /* conversations and endpoints: -z conv,uerudp and -z endpoints,uerudp */
void ue_stats_register(void);       /* -z uerudp,tree and others, see docs/wireshark.md */
void ue_srt_register(int proto);    /* response times: -z uerudp,srt */
void ue_follow_register(int proto); /* -z follow,uerudp,MODE,STREAM */

#endif
