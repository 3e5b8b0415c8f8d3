/* The faults of the device: each a name for QUEUE_DEVICE_FAULT, and what the device then does. The zoo reads this table. */
#include <stdlib.h>
#include <string.h>

#define FAULTS(FAULT) \
    FAULT(OPEN_ABORTS, "Opening the device aborts.") \
    FAULT(OPEN_HANGS, "Opening the device hangs.") \
    FAULT(MEMORY_LIES, "It has a thousandth of the memory that it says.") \
    FAULT(OVERLAP, "Blocks of more than a megabyte overlap with the next.") \
    FAULT(FREE_DOES_NOTHING, "The driver never frees.") \
    FAULT(FREE_FORGETS, "One block in twenty isn't freed.") \
    FAULT(COPY_LOSES_LAST_BYTE, "Copies of over 64 KiB of an odd size lose their last byte.") \
    FAULT(COPIES_ALIGNED, "Copies to the device have whole words of 4 bytes, or odd sizes.") \
    FAULT(LINES_NOT_FLUSHED, "A read loses the last line of a cache that isn't full.") \
    FAULT(COPY_LATE, "One copy in twenty goes before its predecessor.") \
    FAULT(READS_BLOCK, "Copies from the device block.") \
    FAULT(FILLS_SEVEN_BITS, "`memset` keeps seven bits.") \
    FAULT(FILLS_AFTER_FAILURE, "`memset` works on a poisoned stream.") \
    FAULT(RING_OVERFLOWS, "Of more than 256 pieces of work, a `memset` is lost.") \
    FAULT(ONE_CALLBACK_AT_A_TIME, "One callback at a time runs.") \
    FAULT(NEVER_RECOVERS, "A poisoned stream stays so.") \
    FAULT(THREAD_LEFT, "A stream's thread is never ended.") \
    FAULT(CLOSE_DROPS_WORK, "Closing a stream drops its work.") \
    FAULT(WAIT_IGNORED, "A stream doesn't wait for an event.") \
    FAULT(WAIT_IN_ONE_STREAM, "A poisoned stream doesn't wait, also behind a recovery.") \
    FAULT(RECORD_COUNTER_WRAPS, "The 256th record of a stream is never reached.") \
    FAULT(EVENT_LOSES_ERROR, "Events don't carry errors.") \
    FAULT(EVENT_READY_EARLY, "Events are ready when they are recorded.") \
    FAULT(EVENT_DIES_EARLY, "Dropping an event that isn't reached aborts.") \
    FAULT(TIMEOUT_IS_READY, "A wait that times out says that it is ready.") \
    FAULT(ADD_SATURATES, "Sums of integers saturate.") \
    FAULT(DIVIDES_BY_ZERO, "An integer divided by 0 is 0.") \
    FAULT(DIVIDES_SATURATING, "The smallest integer divided by -1 is the largest.") \
    FAULT(REMAINDER_FLOORS, "`remainder` has the sign of the divisor.") \
    FAULT(SHIFT_IS_CUT, "Amounts of shifts are taken modulo 32.") \
    FAULT(CONVERTS_OUT_OF_RANGE, "Numbers that fit no integer become the smallest one.") \
    FAULT(MAXIMUM_IGNORES_NAN, "`maximum` ignores NaN.") \
    FAULT(NEGATE_LOSES_ZERO, "`negate` of 0 is 0, not -0.") \
    FAULT(POWER_BY_LOGARITHM, "`power` of a negative number is NaN.") \
    FAULT(EXP_OVERFLOWS_EARLY, "`exponential` overflows beyond 88.") \
    FAULT(TANH_OVERWRITES, "`tanh` overwrites its operand.") \
    FAULT(FLUSHES_DENORMALS, "Denormal results are 0.") \
    FAULT(COUNTS_IN_16_BITS, "A counter of elements has 16 bits.") \
    FAULT(DROPS_THE_TAIL, "The tail of large arrays isn't computed.") \
    FAULT(STRIDE_IS_SHORT, "An operand with a long outermost stride is read one element too far.")

#define NAME(name, what) name,
#define NAME_AS_TEXT(name, what) #name,
enum fault { FAULTS(NAME) NO_FAULT };
static enum fault fault_on = NO_FAULT;

__attribute__((constructor)) static void choose_fault(void) {
    static const char *const names[] = {FAULTS(NAME_AS_TEXT)};
    const char *wanted = getenv("QUEUE_DEVICE_FAULT");
    for (int i = 0; wanted && i < NO_FAULT; i++)
        if (!strcmp(wanted, names[i])) fault_on = i;
}

static int faulty(enum fault fault) { return fault == fault_on; }

static int faulty_once_in_twenty(enum fault fault) {
    static int count;
    return faulty(fault) && ++count % 20 == 0;
}
