/* SPDX-License-Identifier: MIT */
/* Counts what traces of whole messages report, and checks that each trace covers its message. */
#ifndef UERUDP_TESTS_SUPPORT_CONTENT_TALLY_H
#define UERUDP_TESTS_SUPPORT_CONTENT_TALLY_H

#include <uerudp/content.h>

struct content_tally {
    unsigned messages;
    unsigned faults;
    unsigned groups[UE_GROUP_COUNT];
    unsigned fields[UE_FIELD_COUNT];
    /* Of the current message. */
    size_t traced_bit;
    size_t end_bit;
    unsigned depth;
    const char *problem; /* NULL: none */
};

/* Traces a message. The trace must cover every bit of it, end where it ends and close its groups; otherwise the tally
   has a problem. */
enum ue_status content_tally_add(struct content_tally *tally, const struct ue_context *context,
                                 const struct ue_content *content, const struct ue_guid_names *names);

#endif
