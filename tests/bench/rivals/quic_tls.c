/* SPDX-License-Identifier: MIT */
#ifdef BENCH_HAVE_NGTCP2

#include "tests/bench/rivals/quic_tls.h"

#include <string.h>
#include <time.h>

#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include <ngtcp2/ngtcp2_crypto_gnutls.h>

#define SECONDS_VALID (365 * 24 * 3600)
#define PROTOCOL "bench"
#define PRIORITY                                                                                                       \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:-CIPHER-ALL:+AES-128-GCM:-GROUP-ALL:+GROUP-X25519:%DISABLE_TLS13_COMPAT_MODE"

static bool sign(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key) {
    const uint8_t serial = 1;
    time_t now = time(NULL);
    unsigned bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
    return gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, bits, 0) == 0 &&
           gnutls_x509_crt_set_version(certificate, 3) == 0 &&
           gnutls_x509_crt_set_serial(certificate, &serial, sizeof serial) == 0 &&
           gnutls_x509_crt_set_activation_time(certificate, now - SECONDS_VALID) == 0 &&
           gnutls_x509_crt_set_expiration_time(certificate, now + SECONDS_VALID) == 0 &&
           gnutls_x509_crt_set_dn(certificate, "CN=" PROTOCOL, NULL) == 0 &&
           gnutls_x509_crt_set_key(certificate, key) == 0 &&
           gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0) == 0;
}

static bool certify(gnutls_certificate_credentials_t credentials) {
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
    if (gnutls_x509_crt_init(&certificate) != 0) {
        return false;
    }
    bool ok = gnutls_x509_privkey_init(&key) == 0;
    if (ok) {
        ok = sign(certificate, key) && gnutls_certificate_set_x509_key(credentials, &certificate, 1, key) >= 0;
        gnutls_x509_privkey_deinit(key);
    }
    gnutls_x509_crt_deinit(certificate);
    return ok;
}

bool quic_tls_init(struct quic_tls *tls) {
    return gnutls_certificate_allocate_credentials(&tls->server) == 0 &&
           gnutls_certificate_allocate_credentials(&tls->client) == 0 && certify(tls->server);
}

void quic_tls_free(struct quic_tls *tls) {
    if (tls->server != NULL) {
        gnutls_certificate_free_credentials(tls->server);
    }
    if (tls->client != NULL) {
        gnutls_certificate_free_credentials(tls->client);
    }
}

gnutls_session_t quic_tls_session(struct quic_tls *tls, bool is_server, ngtcp2_crypto_conn_ref *ref) {
    const gnutls_datum_t protocol = {(unsigned char *)PROTOCOL, sizeof PROTOCOL - 1};
    unsigned flags = is_server ? GNUTLS_SERVER | GNUTLS_NO_AUTO_SEND_TICKET : GNUTLS_CLIENT;
    gnutls_session_t session;
    if (gnutls_init(&session, flags | GNUTLS_NO_END_OF_EARLY_DATA) != 0) {
        return NULL;
    }
    gnutls_session_set_ptr(session, ref);
    bool ok = gnutls_priority_set_direct(session, PRIORITY, NULL) == 0 &&
              (is_server ? ngtcp2_crypto_gnutls_configure_server_session(session)
                         : ngtcp2_crypto_gnutls_configure_client_session(session)) == 0 &&
              gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, is_server ? tls->server : tls->client) == 0 &&
              gnutls_alpn_set_protocols(session, &protocol, 1, GNUTLS_ALPN_MANDATORY) == 0;
    if (!ok) {
        gnutls_deinit(session);
        return NULL;
    }
    return session;
}

#else

typedef int rival_quic_tls_is_empty; /* ISO C forbids an empty translation unit */

#endif
