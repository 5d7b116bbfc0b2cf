/* SPDX-License-Identifier: MIT */
/* Takes personal data out of datagrams, each at its length, so that everything made from them is clean. */
#ifndef UERUDP_TOOLS_EDIT_REDACTOR_H
#define UERUDP_TOOLS_EDIT_REDACTOR_H

#include <uerudp/datagram.h>
#include "libcodec/cipher/cipher.h"

/* Control messages in parts, of all connections; memory is limited, and what was forgotten is masked as a whole. */
struct ue_redactor;

/* One datagram to be masked, in place. */
struct ue_redactable {
    const struct ue_context *context; /* NULL: of no known form; nothing is left of it */
    uint32_t stream;
    unsigned side; /* of the sender: 0 or 1 */
    uint8_t *bytes;
    size_t size_bytes;
};

/* What could not be masked field by field. */
struct ue_redact_counts {
    uint64_t opaque; /* datagrams with encrypted or compressed content that cannot be read: all of that is blank */
    uint64_t unread; /* bunches of the control channel with exports, or parts whose beginning did not come before: all
                        of them is blank */
};

/* cipher: what opens the encrypted datagrams of contexts with an opener; it must outlive the redactor. NULL: none. */
struct ue_redactor *ue_redactor_new(struct ue_cipher *cipher);
void ue_redactor_free(struct ue_redactor *redactor);

/* Masks URLs, tokens, names, ids and texts of the control messages, also in parts and in what it can decrypt, which is
   encrypted again; what voice packets carry; and whatever cannot be read: what is behind a fault, encrypted and
   compressed content, bits of a game's own. To be called in capture order. What a game replicates in its own channels
   stays. */
void ue_redact(struct ue_redactor *redactor, const struct ue_redactable *datagram);

/* Says on stderr what is blank. */
void ue_redact_report(const struct ue_redact_counts *counts);

const struct ue_redact_counts *ue_redactor_counts(const struct ue_redactor *redactor);

#endif
