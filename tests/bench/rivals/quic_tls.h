/* SPDX-License-Identifier: MIT */
/* TLS of a QUIC pair: a throw-away certificate, and a session for each end (GnuTLS). */
#ifndef UERUDP_TESTS_BENCH_RIVALS_QUIC_TLS_H
#define UERUDP_TESTS_BENCH_RIVALS_QUIC_TLS_H

#include <stdbool.h>

#include <gnutls/gnutls.h>

#include <ngtcp2/ngtcp2_crypto.h>

struct quic_tls {
    gnutls_certificate_credentials_t server;
    gnutls_certificate_credentials_t client;
};

bool quic_tls_init(struct quic_tls *tls);
void quic_tls_free(struct quic_tls *tls);

/* A session of one end that finds its connection by the reference; NULL: error. The caller deinitialises it. */
gnutls_session_t quic_tls_session(struct quic_tls *tls, bool is_server, ngtcp2_crypto_conn_ref *ref);

#endif
