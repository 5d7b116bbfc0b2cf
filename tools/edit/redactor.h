/* SPDX-License-Identifier: MIT */
/* Takes personal data out of datagrams, each at its length, so that everything made from them is clean. */
#ifndef UERUDP_TOOLS_EDIT_REDACTOR_H
#define UERUDP_TOOLS_EDIT_REDACTOR_H

#include <uerudp/datagram.h>
#include "libcodec/cipher/cipher.h"

/* Control messages in parts, of all connections; memory is limited, and what was forgotten is masked as a whole. */
struct redactor;

/* One datagram to be masked, in place. */
struct redactor_datagram {
    const struct ue_context *context; /* NULL: of no known form; nothing is left of it */
    uint32_t stream;
    unsigned side; /* of the sender: 0 or 1 */
    uint8_t *bytes;
    size_t size_bytes;
};

/* What could not be masked field by field. */
struct redactor_counts {
    uint64_t opaque; /* datagrams with encrypted or compressed content that cannot be read: all of that is blank */
    uint64_t unread; /* bunches of the control channel with exports, or parts whose beginning did not come before: all
                        of them is blank */
};

/* cipher: what opens the encrypted datagrams of contexts with an opener; it must outlive the redactor. NULL: none. */
struct redactor *redactor_new(struct ue_cipher *cipher);
void redactor_free(struct redactor *redactor);

/* Masks URLs, tokens, names, ids and texts of the control messages, also in parts and in what it can decrypt, which is
   encrypted again; what voice packets carry; and whatever cannot be read: what is behind a fault, encrypted and
   compressed content, bits of a game's own. To be called in capture order. What a game replicates in its own channels
   stays. */
void redactor_mask(struct redactor *redactor, const struct redactor_datagram *datagram);

/* Says on stderr what is blank. */
void redactor_report(const struct redactor_counts *counts);

const struct redactor_counts *redactor_counts(const struct redactor *redactor);

#endif
