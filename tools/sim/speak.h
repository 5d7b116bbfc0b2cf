/* SPDX-License-Identifier: MIT */
/* PRIVATE: what the program at an end says: control messages, openings, and its streams. */
#ifndef UE_SPEAK_H
#define UE_SPEAK_H

#include "tools/sim/end.h"

/* Client: Hello, on the control channel. */
void ue_speak_hello(struct ue_end *end, uint64_t now_ns);
/* Server: opens every channel of the scenario that is free. */
void ue_speak_open_channels(struct ue_end *end, uint64_t now_ns);
/* What the streams have to say in this tick. */
void ue_speak_streams(struct ue_end *end, uint64_t now_ns);

#endif
