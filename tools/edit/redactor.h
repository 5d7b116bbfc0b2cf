/* SPDX-License-Identifier: MIT */
/* Masks personal data in datagrams without changing their size. */
#ifndef UERUDP_TOOLS_EDIT_REDACTOR_H
#define UERUDP_TOOLS_EDIT_REDACTOR_H

#include <uerudp/datagram.h>
#include "libcodec/cipher/aes_decryption.h"

/* Holds fragmented control messages of all connections in bounded memory; a message that was dropped is masked as a
   whole. */
struct redactor;

/* One datagram to mask in place. */
struct redactor_datagram {
    const struct ue_context *context; /* NULL: the datagram is not recognised and blanked */
    uint32_t stream;
    unsigned side; /* of the sender, 0 or 1 */
    uint8_t *bytes;
    size_t size_bytes;
};

/* What could not be masked field by field. */
struct redactor_counts {
    uint64_t opaque; /* datagrams with encrypted or compressed content that cannot be decoded; the content is blanked */
    uint64_t unread; /* blanked control bunches: with exports, or fragments whose beginning is missing */
};

/* cipher decrypts datagrams of contexts with an opener; it must outlive the redactor. NULL: no keys. */
struct redactor *redactor_new(struct ue_cipher *cipher);
void redactor_free(struct redactor *redactor);

/* Masks URLs, tokens, names, ids and texts of control messages, except close reasons that are names of the engine, also
   in fragments and in content that it can decrypt, which it encrypts again; masks voice data; blanks what cannot be
   decoded: bits after a fault, encrypted and compressed content, bits added by a game. Call it in capture order.
   Content of other channels stays. */
void redactor_mask(struct redactor *redactor, const struct redactor_datagram *datagram);

/* Reports on stderr what is blanked. */
void redactor_report(const struct redactor_counts *counts);

const struct redactor_counts *redactor_counts(const struct redactor *redactor);

#endif
