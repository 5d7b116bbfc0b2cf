/* SPDX-License-Identifier: MIT */
/* uerudp link: emulates a bad network between real clients and a real server. */
#include "tools/cli/command_line.h"
#include "tools/impair/proxy.h"

static const char description[] =
    "Clients connect to LISTEN_PORT of this machine (0: a free port, which is printed). The link forwards their "
    "datagrams to the server at HOST:PORT and the replies back, with the impairments of the options; without any it "
    "only records.\n\n"
    "Random numbers follow from --seed for each client: its n-th datagram gets the same loss and delay in every run, "
    "but the order of datagrams and full queues depend on real time. Rules are those of uerudp edit; their time counts "
    "from the client's first datagram.\n\n"
    "Prints \"listening on ADDRESS:PORT\" when it is ready, then each client that connects or leaves, with its "
    "statistics. SIGINT or SIGTERM ends it.\n\n"
    "Exit status: 0 success, 2 wrong arguments, or a port, file or line that could not be opened or written.\n\n"
    "Examples:\n"
    "  uerudp link --loss 0.05 --delay 40 --jitter 10 7778 localhost:7777\n"
    "  uerudp link --up-loss 0.2 --up-loss-burst 4 --down-rate 20000 --down-queue 8000 7778 192.0.2.1:7777\n"
    "  uerudp link --pkt PktLoss=5 --pkt PktLag=50 --pcap link.pcapng 7778 localhost\n"
    "  uerudp link --rule 'drop channel=0 copy=1' --once --json 7778 localhost | jq 'select(.event == \"left\")'";

static bool resolve(struct impair_options *options, int argc, char **argv, uint64_t *port) {
    if (argc != 3) {
        return cli_error("LISTEN_PORT and the server's HOST:PORT are required; see uerudp link --help");
    }
    if (!cli_parse_number(argv[1], UINT16_MAX, port)) {
        return cli_error("%s: must be a port to listen on", argv[1]);
    }
    return impair_options_resolve(options);
}

static enum cli_exit run(struct impair_options *options, uint16_t port, const char *target) {
    struct impair_proxy *relay = impair_proxy_new(options, port, target);
    if (relay == NULL) {
        return CLI_EXIT_UNUSABLE;
    }
    impair_proxy_run(relay);
    return impair_proxy_free(relay) ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

int cmd_link(int argc, char **argv) {
    struct impair_options options;
    GOptionContext *context =
        g_option_context_new("LISTEN_PORT HOST:PORT - emulate a bad network in front of a server");
    impair_options_init(&options);
    g_option_context_set_description(context, description);
    impair_options_add(&options, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    uint64_t port = 0;
    if (cli_parse(context, &argc, &argv) && resolve(&options, argc, argv, &port)) {
        status = run(&options, (uint16_t)port, argv[2]);
    }
    impair_options_clear(&options);
    return status;
}
