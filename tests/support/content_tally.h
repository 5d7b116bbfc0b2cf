/* SPDX-License-Identifier: MIT */
/* What traces of whole messages told, counted, and whether each was told to its last bit. */
#ifndef UERUDP_TESTS_SUPPORT_CONTENT_TALLY_H
#define UERUDP_TESTS_SUPPORT_CONTENT_TALLY_H

#include <uerudp/content.h>

struct content_tally {
    unsigned messages;
    unsigned faults;
    unsigned groups[UE_GROUP_COUNT];
    unsigned fields[UE_FIELD_COUNT];
    /* Of the message at hand. */
    size_t told_bit;
    size_t end_bit;
    unsigned depth;
    const char *problem; /* NULL: none so far */
};

/* Traces a message. The trace must leave no gap, end where the message ends, stay inside, and close its groups: else
   the tally has a problem. */
enum ue_status content_tally_add(struct content_tally *tally, const struct ue_context *context,
                                 const struct ue_content *content, const struct ue_guid_names *names);

#endif
