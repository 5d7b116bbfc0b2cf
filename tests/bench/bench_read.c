/* SPDX-License-Identifier: MIT */
/* What reading a capture costs by itself: with libpcap, or in blocks with a record walk of our own. */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (1u << 20)
#define FILE_HEADER_BYTES 24
#define RECORD_HEADER_BYTES 16

static unsigned long packets, touched;

static void take(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *bytes) {
    (void)user;
    packets++;
    touched += bytes[header->caplen - 1];
}

static int read_pcap(const char *path) {
    char error[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline(path, error);
    return capture != NULL ? pcap_loop(capture, -1, take, NULL) : -1;
}

/* Returns how many bytes were walked over. */
static size_t walk(const unsigned char *block, size_t size) {
    size_t at = 0;
    while (size - at >= RECORD_HEADER_BYTES) {
        uint32_t bytes;
        memcpy(&bytes, block + at + 8, sizeof bytes);
        if (size - at - RECORD_HEADER_BYTES < bytes) {
            break;
        }
        at += RECORD_HEADER_BYTES + bytes;
        touched += block[at - 1];
        packets++;
    }
    return at;
}

static int read_blocks(const char *path) {
    FILE *file = fopen(path, "rb");
    unsigned char *block = malloc(BLOCK_BYTES);
    if (file == NULL || block == NULL || fseek(file, FILE_HEADER_BYTES, SEEK_SET) != 0) {
        return -1;
    }
    setvbuf(file, NULL, _IONBF, 0);
    size_t kept = 0, read;
    while ((read = fread(block + kept, 1, BLOCK_BYTES - kept, file)) != 0) {
        size_t walked = walk(block, kept + read);
        kept += read - walked;
        memmove(block, block + walked, kept);
    }
    return ferror(file);
}

int main(int argc, char **argv) {
    if (argc != 3 || (strcmp(argv[1], "pcap") != 0 && strcmp(argv[1], "blocks") != 0)) {
        fputs("usage: bench_read pcap|blocks FILE\n", stderr);
        return 2;
    }
    int status = strcmp(argv[1], "pcap") == 0 ? read_pcap(argv[2]) : read_blocks(argv[2]);
    printf("%lu packets, sum %lu\n", packets, touched);
    return status != 0;
}
