/* SPDX-License-Identifier: MIT */
/* Plays the scenarios of spec 6.20, tests/scenarios/NAME.txt. Such a file is a transcript in virtual time: lines that
   begin at the margin are commands, indented lines what has to come of them, all of it and in this order. '#' begins a
   remark, "@AB " limits a line to those generations of the ack machinery.

     fixture [new] [unadmitted] [C=100] [S=500] [7]
                                         begin again, with further channels; new: nobody has said anything yet,
                                         unadmitted: the client has no player
     at 0.5                              set the clock
     run [C|S] until=2 hz=30 delay=0.05  frames of both sides, or of one that hears nothing
     lose C 101-103                      run does not carry these packets
     show sizes                          packet lines tell bytes and packet info
     show no packets, show packets       leave packet lines out; stop leaving them out
     C send 5 m1 80 [unreliable] [merge] [close] [mapped] [x9] [each]
                                         bunches called m1 of 80 bits on channel 5; each: flush behind every one
     C flush      C tick                 FlushNet; end of tick: PostTickDispatch, then Tick
     S reads 100 103-105                 packets of the other side arrive, in this order
     S forged 100 Ack=499 hist=0 [5 R101 m1 80]
                                         a packet arrives that the other side never sent
     S bytes 00ff                        so does this datagram
     C open 3 Actor      C leaves        open a channel; close the connection
     C answers 5 a1 [flush]              send a1 on channel 5 from inside the handler of the next bunch
     C knows 9                           C takes channel 9 for open, of which S knows nothing
     C speed 10000                       bandwidth in bytes per second
     S has InSeq=103 NumInRec(5)=2       values by the engine's names, see scenario_facts.h

   Every packet sent and every event is a line: "0.0333 C > 100 Ack=499 hist=0 [5 R101 m1 80]", "S < 5 R101 m1 80" for a
   delivered bunch, "C ack 100-102", "C nak 103". Reliable bunches show ChSequence, packets their full number. */
#ifndef UE_TESTS_SCENARIO_H
#define UE_TESTS_SCENARIO_H

/* A cmocka test that plays one file in generations A, B and C, or in L when its name begins with an l. */
#define SCENARIO(name)                                                                                                 \
    { name, scenario_play, NULL, NULL, (void *)(uintptr_t)(name) }
void scenario_play(void **state);

#endif
