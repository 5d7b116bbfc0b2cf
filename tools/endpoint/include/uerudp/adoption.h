/* SPDX-License-Identifier: MIT */
/* Puts a connection that was adopted (ue_conn_adopt) into the state of one that is older, as scripts and replays need
   it that begin in the middle. The peer must be of the same opinion. */
#ifndef UERUDP_ADOPTION_H
#define UERUDP_ADOPTION_H

#include <uerudp/endpoint.h>

/* A channel that is open and acknowledged, opened by this side or by the other; name_index: the engine's number of its
   name. UE_E_FULL: no memory. */
enum ue_status ue_conn_assume_open(struct ue_conn *c, enum ue_channel_kind kind, uint32_t channel, uint32_t name_index,
                                   bool is_opener);

/* Server: the client has spoken on channel 0, so that the server may send (endpoint.md 19.5). Channel 0 must be
   open. */
void ue_conn_assume_heard(struct ue_conn *c);

#endif
