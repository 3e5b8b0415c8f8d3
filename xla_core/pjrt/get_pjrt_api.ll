; The shared library of a backend: GetPjrtApi finds CPython in the process, or loads it, and runs the program in @text.program,
; which stores the address of the table of functions in @api. `shared_library.py` fills in the texts and the program's size.
$texts
@api = internal global i64 0
@state = internal global i32 0

declare ptr @dlopen(ptr, i32)
declare ptr @dlsym(ptr, ptr)
declare i32 @setenv(ptr, ptr, i32)
declare i32 @unsetenv(ptr)
declare ptr @getenv(ptr)
declare i32 @snprintf(ptr, i64, ptr, ...)
declare i32 @sched_yield()

define ptr @GetPjrtApi() {
  br label %try
try:
  %seen = cmpxchg ptr @state, i32 0, i32 1 acq_rel acquire
  %mine = extractvalue { i32, i1 } %seen, 1
  br i1 %mine, label %load_python, label %another
another:
  %state = extractvalue { i32, i1 } %seen, 0
  %is_done = icmp eq i32 %state, 2
  br i1 %is_done, label %done, label %wait
wait:  ; the thread that loads Python needs the GIL, which this one may hold
  %is_running = call ptr @dlsym(ptr null, ptr @text.Py_IsInitialized)
  %is_loaded = icmp ne ptr %is_running, null
  br i1 %is_loaded, label %ask, label %yield
ask:
  %running = call i32 %is_running()
  %has_gil = icmp ne i32 %running, 0
  br i1 %has_gil, label %look, label %yield
look:
  %check = call ptr @dlsym(ptr null, ptr @text.PyGILState_Check)
  %held_here = call i32 %check()
  %holds = icmp ne i32 %held_here, 0
  br i1 %holds, label %give, label %yield
give:
  %save = call ptr @dlsym(ptr null, ptr @text.PyEval_SaveThread)
  %restore_thread = call ptr @dlsym(ptr null, ptr @text.PyEval_RestoreThread)
  %own = call ptr %save()
  %gave = call i32 @sched_yield()
  call void %restore_thread(ptr %own)
  br label %try
yield:
  %yielded = call i32 @sched_yield()
  br label %try

load_python:
  %here = call ptr @dlsym(ptr null, ptr @text.Py_IsInitialized)
  %is_here = icmp ne ptr %here, null
  br i1 %is_here, label %loaded, label %open
open:
  %opened = call ptr @dlopen(ptr @text.library, i32 258)
  %is_open = icmp ne ptr %opened, null
  br i1 %is_open, label %loaded, label %finish
loaded:
  %python = phi ptr [ null, %load_python ], [ %opened, %open ]
  %Py_IsInitialized = call ptr @dlsym(ptr %python, ptr @text.Py_IsInitialized)
  %Py_InitializeEx = call ptr @dlsym(ptr %python, ptr @text.Py_InitializeEx)
  %PyGILState_Ensure = call ptr @dlsym(ptr %python, ptr @text.PyGILState_Ensure)
  %PyGILState_Release = call ptr @dlsym(ptr %python, ptr @text.PyGILState_Release)
  %PyRun_SimpleString = call ptr @dlsym(ptr %python, ptr @text.PyRun_SimpleString)
  %PyEval_SaveThread = call ptr @dlsym(ptr %python, ptr @text.PyEval_SaveThread)
  %initialized = call i32 %Py_IsInitialized()
  %runs = icmp ne i32 %initialized, 0
  br i1 %runs, label %enter, label %start
start:
  %given = call ptr @getenv(ptr @text.home_variable)
  %set = call i32 @setenv(ptr @text.home_variable, ptr @text.home, i32 1)
  call void %Py_InitializeEx(i32 0)
  %unset = call i32 @unsetenv(ptr @text.home_variable)
  %is_given = icmp ne ptr %given, null
  br i1 %is_given, label %restore, label %run
restore:
  %back = call i32 @setenv(ptr @text.home_variable, ptr %given, i32 1)
  br label %run
enter:
  %gil = call i32 %PyGILState_Ensure()
  br label %run
run:
  %held = phi i32 [ -1, %start ], [ -1, %restore ], [ %gil, %enter ]
  %text = alloca i8, i64 $size
  %slot = ptrtoint ptr @api to i64
  %written = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 $size, ptr @text.program, i64 %slot)
  %status = call i32 %PyRun_SimpleString(ptr %text)
  %was_started = icmp eq i32 %held, -1
  br i1 %was_started, label %release, label %leave
release:
  %thread = call ptr %PyEval_SaveThread()
  br label %finish
leave:
  call void %PyGILState_Release(i32 %held)
  br label %finish
finish:
  store atomic i32 2, ptr @state release, align 4
  br label %done
done:
  %address = load i64, ptr @api
  %table = inttoptr i64 %address to ptr
  ret ptr %table
}
