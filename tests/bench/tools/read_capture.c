/* SPDX-License-Identifier: MIT */
/* What libpcap takes to read a capture; prints how many packets it has. usage: bench_read FILE */
#include <pcap/pcap.h>
#include <stdio.h>

struct sum {
    unsigned long packets;
    unsigned char last_bytes; /* of each packet one byte is read, as from memory that a program uses */
};

static void on_packet(unsigned char *user, const struct pcap_pkthdr *header, const unsigned char *bytes) {
    struct sum *sum = (struct sum *)user;
    sum->packets++;
    sum->last_bytes ^= bytes[header->caplen - 1];
}

int main(int argc, char **argv) {
    char error[PCAP_ERRBUF_SIZE] = "no file";
    struct sum sum = {0};
    pcap_t *capture = argc == 2 ? pcap_open_offline(argv[1], error) : NULL;
    if (capture == NULL || pcap_loop(capture, -1, on_packet, (unsigned char *)&sum) != 0) {
        fprintf(stderr, "bench_read: %s\n", capture == NULL ? error : pcap_geterr(capture));
        return 2;
    }
    printf("%lu packets, last bytes %u\n", sum.packets, sum.last_bytes);
    pcap_close(capture);
    return 0;
}
