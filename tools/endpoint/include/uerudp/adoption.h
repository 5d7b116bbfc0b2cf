/* SPDX-License-Identifier: MIT */
/* Puts an adopted connection (ue_conn_adopt) into the state of an older one, for scripts and replays that begin in the
   middle. The peer must be put into the same state. */
#ifndef UERUDP_ADOPTION_H
#define UERUDP_ADOPTION_H

#include <uerudp/endpoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a channel open and acknowledged, opened by this side or by the peer; name_index: the engine's index of its
   name. UE_E_FULL: no memory. */
enum ue_status ue_conn_assume_open(struct ue_conn *c, enum ue_channel_kind kind, uint32_t channel, uint32_t name_index,
                                   bool is_opener);

/* Server: the client has sent a reliable bunch on channel 0, so the server may send (endpoint.md 19.5). Channel 0 must
   be open. */
void ue_conn_assume_heard(struct ue_conn *c);

#ifdef __cplusplus
}
#endif

#endif
