; The one thread pool of the process, shared by every executable and by BLAS calls.
;
; Hand-written LLVM IR, so that nothing but the wheel's LLVM is needed to build it; pthreads are in every process.
;
;   void xla_cpu_parallel_for(ptr kernel, ptr buffers, i64 size, i64 chunk)
;
; calls kernel(buffers, begin, end) over [0, size) in pieces of `chunk`, on the calling thread and on the
; workers, and returns when all are done. One job runs at a time; a caller that finds the pool taken (another stream,
; or a nested call) runs its whole range itself, so nothing ever waits for a pool.
;
; The state of the job is one 64-bit ticket: generation (24 bits), pieces (20), next piece (20). A piece is claimed by
; one compare-and-swap on it, so a worker that comes late can neither take a piece of a job that it hasn't seen nor
; read the job's fields while they change: the fields are stable from the ticket's publication until `done` reaches
; the number of pieces, and only whoever claimed a piece reads them.

@ticket = internal global i64 0, align 64
@done = internal global i64 0, align 64
@taken = internal global i32 0, align 64
@sleepers = internal global i32 0, align 64
@workers = internal global i32 0
@job_kernel = internal global ptr null, align 64
@job_buffers = internal global ptr null
@job_size = internal global i64 0
@job_chunk = internal global i64 0
@lock = internal global [64 x i8] zeroinitializer, align 64      ; pthread_mutex_t, zero is its initializer
@wake = internal global [64 x i8] zeroinitializer, align 64      ; pthread_cond_t, likewise

declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sched_yield()

define internal void @pause() alwaysinline {
  fence syncscope("singlethread") seq_cst
  ret void
}

; Takes pieces of the generation in `seen` until none is left. Returns how many it ran.
define internal i64 @run_pieces(i64 %generation) {
entry:
  br label %look
look:
  %ran = phi i64 [ 0, %entry ], [ %ran, %lost ], [ %more, %finish ]
  %t = load atomic i64, ptr @ticket seq_cst, align 8
  %g = lshr i64 %t, 40
  %same = icmp eq i64 %g, %generation
  br i1 %same, label %count, label %out
count:
  %index = and i64 %t, 1048575
  %high = lshr i64 %t, 20
  %pieces = and i64 %high, 1048575
  %left = icmp ult i64 %index, %pieces
  br i1 %left, label %claim, label %out
claim:
  %t1 = add i64 %t, 1
  %swap = cmpxchg ptr @ticket, i64 %t, i64 %t1 seq_cst seq_cst
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %run, label %lost
lost:
  call void @pause()
  br label %look
run:
  %kernel = load ptr, ptr @job_kernel, align 8
  %buffers = load ptr, ptr @job_buffers, align 8
  %size = load i64, ptr @job_size, align 8
  %chunk = load i64, ptr @job_chunk, align 8
  %begin = mul i64 %index, %chunk
  %past = add i64 %begin, %chunk
  %clip = icmp ult i64 %past, %size
  %end = select i1 %clip, i64 %past, i64 %size
  call void %kernel(ptr %buffers, i64 %begin, i64 %end)
  br label %finish
finish:
  %before = atomicrmw add ptr @done, i64 1 seq_cst
  %more = add i64 %ran, 1
  br label %look
out:
  ret i64 %ran
}

; A worker spins for a while after each job (the next kernel of the same program usually follows within microseconds),
; then sleeps on the condition.
define internal ptr @worker_main(ptr %unused) {
entry:
  br label %wait
wait:
  %seen = phi i64 [ 0, %entry ], [ %g.run, %work ]
  br label %spin
spin:
  %n = phi i32 [ 0, %wait ], [ %n1, %spin.next ], [ 0, %woken ]
  %t = load atomic i64, ptr @ticket seq_cst, align 8
  %g = lshr i64 %t, 40
  %new = icmp ne i64 %g, %seen
  br i1 %new, label %work.from.spin, label %spin.next
spin.next:
  %n1 = add i32 %n, 1
  call void @pause()
  %tired = icmp ugt i32 %n1, 20000
  br i1 %tired, label %sleep, label %spin
sleep:
  %r0 = call i32 @pthread_mutex_lock(ptr @lock)
  %s0 = atomicrmw add ptr @sleepers, i32 1 seq_cst
  br label %check
check:
  %t2 = load atomic i64, ptr @ticket seq_cst, align 8
  %g2 = lshr i64 %t2, 40
  %new2 = icmp ne i64 %g2, %seen
  br i1 %new2, label %woken, label %doze
doze:
  %r1 = call i32 @pthread_cond_wait(ptr @wake, ptr @lock)
  br label %check
woken:
  %s1 = atomicrmw sub ptr @sleepers, i32 1 seq_cst
  %r2 = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %spin
work.from.spin:
  br label %work
work:
  %g.run = phi i64 [ %g, %work.from.spin ]
  %ran = call i64 @run_pieces(i64 %g.run)
  br label %wait
}

; Starts workers until there are `wanted`. Returns how many there are. Called under the caller's own lock.
define i32 @xla_cpu_start_workers(i32 %wanted) {
entry:
  %handle = alloca i64
  %all = alloca [128 x i8], align 8
  %old = alloca [128 x i8], align 8
  call void @llvm.memset.p0.i64(ptr %all, i8 -1, i64 128, i1 false)
  ; signals belong to the host's own threads
  %m0 = call i32 @pthread_sigmask(i32 2, ptr %all, ptr %old)
  br label %loop
loop:
  %have = load i32, ptr @workers, align 4
  %enough = icmp sge i32 %have, %wanted
  br i1 %enough, label %out, label %start
start:
  %id = add i32 %have, 1
  %failed = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker_main, ptr null)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %started, label %out
started:
  %h = load i64, ptr %handle, align 8
  %d = call i32 @pthread_detach(i64 %h)
  store i32 %id, ptr @workers, align 4
  br label %loop
out:
  %m1 = call i32 @pthread_sigmask(i32 2, ptr %old, ptr null)
  %n = load i32, ptr @workers, align 4
  ret i32 %n
}

; In a forked child the workers are gone, and a job may have been under way: its pieces are nobody's any more.
define void @xla_cpu_forget_workers() {
  %t = load i64, ptr @ticket, align 8
  %no.pieces = and i64 %t, -1099511627776
  store i64 %no.pieces, ptr @ticket, align 8
  store i64 0, ptr @done, align 8
  store i32 0, ptr @workers, align 4
  store i32 0, ptr @sleepers, align 4
  store i32 0, ptr @taken, align 4
  call void @llvm.memset.p0.i64(ptr @lock, i8 0, i64 64, i1 false)
  call void @llvm.memset.p0.i64(ptr @wake, i8 0, i64 64, i1 false)
  ret void
}

define void @xla_cpu_parallel_for(ptr %kernel, ptr %buffers, i64 %size, i64 %chunk) {
entry:
  %one = icmp ule i64 %size, %chunk
  br i1 %one, label %alone, label %try
alone:
  call void %kernel(ptr %buffers, i64 0, i64 %size)
  ret void
try:
  %swap = cmpxchg ptr @taken, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %swap, 1
  br i1 %mine, label %publish, label %alone
publish:
  store ptr %kernel, ptr @job_kernel, align 8
  store ptr %buffers, ptr @job_buffers, align 8
  store i64 %size, ptr @job_size, align 8
  store i64 %chunk, ptr @job_chunk, align 8
  store atomic i64 0, ptr @done seq_cst, align 8
  %above = add i64 %size, %chunk
  %up = sub i64 %above, 1
  %pieces = udiv i64 %up, %chunk
  %t = load atomic i64, ptr @ticket seq_cst, align 8
  %g = lshr i64 %t, 40
  %g.next = add i64 %g, 1
  %g.wrapped = and i64 %g.next, 16777215
  %g.high = shl i64 %g.wrapped, 40
  %p.high = shl i64 %pieces, 20
  %fresh = or i64 %g.high, %p.high
  store atomic i64 %fresh, ptr @ticket seq_cst, align 8
  %asleep = load atomic i32, ptr @sleepers seq_cst, align 4
  %quiet = icmp eq i32 %asleep, 0
  br i1 %quiet, label %work, label %call.them
call.them:
  %r0 = call i32 @pthread_mutex_lock(ptr @lock)
  %r1 = call i32 @pthread_cond_broadcast(ptr @wake)
  %r2 = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %work
work:
  %ran = call i64 @run_pieces(i64 %g.wrapped)
  br label %join
join:
  %n = phi i32 [ 0, %work ], [ %n1, %join.next ]
  %d = load atomic i64, ptr @done seq_cst, align 8
  %all = icmp eq i64 %d, %pieces
  br i1 %all, label %release, label %join.wait
join.wait:
  call void @pause()
  %n1 = add i32 %n, 1
  %often = icmp ugt i32 %n1, 4000
  br i1 %often, label %yield, label %join.next
yield:
  %y = call i32 @sched_yield()
  br label %join.next
join.next:
  br label %join
release:
  store atomic i32 0, ptr @taken seq_cst, align 4
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
