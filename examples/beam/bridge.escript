#!/usr/bin/env escript
%% A bridge for Holdfast in Erlang (docs/how-to/bridge.md): JSON-RPC 2.0 over a Unix socket, one message a line. Every run is
%% a keeper, which holds its output and its end, and a worker, which does what the first word says. One supervisor has all
%% keepers. Needs Erlang/OTP 25 and jiffy, of Debian: apt-get install erlang-base erlang-jiffy
%%
%%     HOLDFAST_BRIDGE_SOCKET=/run/beam.sock ./bridge.escript
-module(bridge).
-mode(compile).
-behaviour(supervisor).
-export([main/1, init/1, start_run/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(FRAME_MAX, 4 * 1024 * 1024).
-define(ANSWER_MS, 30000).
%% Failures in a row after which the daemon's socket is left alone, and for how long.
-define(FAILURES_MAX, 5).
-define(REST_MS, 10000).
-define(UNKNOWN_RUN, -32001).

main(_) ->
    Path = os:getenv("HOLDFAST_BRIDGE_SOCKET"),
    %% Name -> {Name, Keeper, Parent, State}, in the order of the names, which pages need.
    runs = ets:new(runs, [named_table, ordered_set, public]),
    calls = ets:new(calls, [named_table, public]),
    persistent_term:put(instance, list_to_binary(io_lib:format("~s-~b", [os:getpid(), erlang:system_time()]))),
    {ok, _} = supervisor:start_link({local, runs_sup}, ?MODULE, supervisor),
    file:delete(Path),
    {ok, Listen} = gen_tcp:listen(0, [{ifaddr, {local, Path}}, binary, {packet, raw}, {active, false}]),
    ok = file:change_mode(Path, 8#600),
    accept(Listen).

init(supervisor) ->
    Keeper = #{id => keeper, start => {?MODULE, start_run, []}, restart => temporary, shutdown => brutal_kill},
    {ok, {#{strategy => simple_one_for_one}, [Keeper]}};
init({keeper, Start = #{<<"run">> := Name}}) ->
    Keeper = self(),
    {Worker, _} = spawn_monitor(fun() -> work(Keeper, Start) end),
    ets:insert(runs, {Name, self(), maps:get(<<"parent">>, Start, null), <<"running">>}),
    {ok, #{name => Name, worker => Worker, stdout => <<>>, stderr => <<>>, exit => none, waiters => []}}.

start_run(Start) -> gen_server:start_link(?MODULE, {keeper, Start}, []).

%% --- connections

accept(Listen) ->
    {ok, Socket} = gen_tcp:accept(Listen),
    Pid = spawn(fun() -> receive go -> serve(Socket, <<>>) end end),
    ok = gen_tcp:controlling_process(Socket, Pid),
    Pid ! go,
    accept(Listen).

%% Answers to `runtime.await` come later, as messages of keepers.
serve(Socket, Rest) when byte_size(Rest) > ?FRAME_MAX -> gen_tcp:close(Socket);
serve(Socket, Rest) ->
    ok = inet:setopts(Socket, [{active, once}]),
    receive
        {tcp, Socket, Bytes} -> serve(Socket, frames(Socket, <<Rest/binary, Bytes/binary>>));
        {answer, Id, Answer} -> send(Socket, Id, Answer), serve(Socket, Rest);
        {tcp_closed, Socket} -> ok;
        {tcp_error, Socket, _} -> ok
    end.

frames(Socket, Bytes) ->
    case binary:split(Bytes, <<"\n">>) of
        [Frame, More] -> frame(Socket, Frame), frames(Socket, More);
        [Half] -> Half
    end.

frame(Socket, Frame) ->
    #{<<"id">> := Id, <<"method">> := Method, <<"params">> := Params} = jiffy:decode(Frame, [return_maps, use_nil]),
    try method(Method, Params, Id) of
        later -> ok;
        Result -> send(Socket, Id, #{result => Result})
    catch
        throw:{refuse, Code, Why} -> send(Socket, Id, #{error => #{code => Code, message => Why}});
        _:Reason -> send(Socket, Id, #{error => #{code => -32603, message => text(Reason)}})
    end.

send(Socket, Id, Answer) -> gen_tcp:send(Socket, [jiffy:encode(Answer#{jsonrpc => <<"2.0">>, id => Id}, [use_nil]), $\n]).

%% --- methods

method(<<"runtime.state">>, #{<<"runs">> := Runs, <<"forget">> := Forget}, _) ->
    [gen_server:stop(Keeper) || Name <- Forget, {_, Keeper, _, <<"ended">>} <- ets:take(runs, Name)],
    #{protocol => 1, instance => persistent_term:get(instance), name => <<"beam">>,
      runs => [#{run => Name, state => state(Name)} || Name <- Runs]};
method(<<"runtime.start_agent">>, Start, _) -> #{ref => started(Start)};
method(<<"runtime.spawn_child">>, Start, _) -> #{ref => started(Start)};
method(<<"runtime.signal">>, #{<<"run">> := Name, <<"signal">> := Signal}, _) ->
    #{reached => gen_server:call(keeper(Name), {signal, Signal})};
method(<<"runtime.await">>, Asked = #{<<"run">> := Name}, Id) ->
    gen_server:cast(keeper(Name), {await, {self(), Id}, Asked}),
    later;
method(<<"runtime.get_children">>, Asked = #{<<"store_id">> := Store, <<"limit">> := Limit}, _) ->
    First = case maps:get(<<"after">>, Asked, nil) of nil -> <<Store/binary, "/">>; After -> After end,
    children(ets:next(runs, First), <<Store/binary, "/">>, maps:get(<<"parent">>, Asked, nil), Limit, []);
method(Method, _, _) -> throw({refuse, -32601, <<"there is no method ", Method/binary>>}).

state(Name) -> case ets:lookup(runs, Name) of [{_, _, _, State}] -> State; [] -> <<"unknown">> end.

keeper(Name) ->
    case ets:lookup(runs, Name) of
        [{_, Keeper, _, _}] -> Keeper;
        [] -> throw({refuse, ?UNKNOWN_RUN, <<"there is no run ", Name/binary>>})
    end.

%% A start that is repeated starts nothing.
started(Start = #{<<"run">> := Name, <<"argv">> := [Word | _]}) ->
    lists:member(Word, words()) orelse throw({refuse, -32602, <<"there is no agent ", Word/binary>>}),
    case ets:lookup(runs, Name) of
        [{_, Keeper, _, _}] -> text(Keeper);
        [] -> {ok, Keeper} = supervisor:start_child(runs_sup, [Start]), text(Keeper)
    end.

children(Name, Prefix, Parent, Limit, Found) ->
    Size = byte_size(Prefix),
    case Name of
        <<Prefix:Size/binary, _/binary>> when Limit > 0 ->
            case ets:lookup(runs, Name) of
                [{_, _, Above, State}] when State =/= <<"ended">>, Parent =:= nil orelse Parent =:= Above ->
                    Run = #{run => Name, parent => case Above of null -> nil; _ -> Above end},
                    children(ets:next(runs, Name), Prefix, Parent, Limit - 1, [Run | Found]);
                _ -> children(ets:next(runs, Name), Prefix, Parent, Limit, Found)
            end;
        <<Prefix:Size/binary, _/binary>> -> #{runs => lists:reverse(Found), next => maps:get(run, hd(Found))};
        _ -> #{runs => lists:reverse(Found), next => nil}
    end.

%% --- keepers

handle_call({signal, _}, _, Run = #{exit := Exit}) when Exit =/= none -> {reply, false, Run};
handle_call({signal, Signal}, _, Run = #{worker := Worker}) ->
    case Signal of
        <<"SIGKILL">> -> exit(Worker, kill);
        <<"SIGSTOP">> -> erlang:suspend_process(Worker, [unless_suspending]), note(<<"paused">>, Run);
        <<"SIGCONT">> -> catch erlang:resume_process(Worker), note(<<"running">>, Run);
        _ -> exit(Worker, {signal, Signal})
    end,
    {reply, true, Run}.

handle_cast({print, Stream, Bytes}, Run) ->
    {noreply, tell(Run#{Stream := <<(maps:get(Stream, Run))/binary, Bytes/binary>>})};
handle_cast({await, Asker, Asked = #{<<"wait_ms">> := Wait}}, Run = #{waiters := Waiters}) ->
    Timer = erlang:send_after(Wait, self(), {late, Asker}),
    {noreply, tell(Run#{waiters := [{Asker, Asked, Timer} | Waiters]})}.

handle_info({late, Asker = {Pid, Id}}, Run = #{name := Name, waiters := Waiters}) ->
    Pid ! {answer, Id, #{result => #{state => state(Name)}}},
    {noreply, Run#{waiters := lists:keydelete(Asker, 1, Waiters)}};
handle_info({'DOWN', _, process, _, Reason}, Run = #{stderr := Err}) ->
    note(<<"ended">>, Run),
    {noreply, case Reason of
        {code, Code} -> tell(Run#{exit := #{code => Code, signal => nil}});
        {signal, Signal} -> tell(Run#{exit := #{code => nil, signal => Signal}});
        killed -> tell(Run#{exit := #{code => nil, signal => <<"SIGKILL">>}});
        Crash -> tell(Run#{exit := #{code => 1, signal => nil}, stderr := <<Err/binary, (text(Crash))/binary, "\n">>})
    end}.

note(State, #{name := Name}) -> ets:update_element(runs, Name, {4, State}).

%% Answers those for whom there is news.
tell(Run = #{waiters := Waiters}) -> Run#{waiters := [Waiter || Waiter <- Waiters, not told(Waiter, Run)]}.

told({{Pid, Id}, #{<<"stdout">> := FromOut, <<"stderr">> := FromErr, <<"max_bytes">> := Max}, Timer}, Run) ->
    #{name := Name, stdout := Out, stderr := Err, exit := Exit} = Run,
    {MoreOut, IsAllOut} = part(Out, FromOut, Max),
    {MoreErr, IsAllErr} = part(Err, FromErr, Max),
    IsEnd = Exit =/= none andalso IsAllOut andalso IsAllErr,
    IsNews = IsEnd orelse byte_size(MoreOut) + byte_size(MoreErr) > 0,
    News = #{state => state(Name), stdout => base64:encode(MoreOut), stderr => base64:encode(MoreErr)},
    IsNews andalso erlang:cancel_timer(Timer),
    IsNews andalso (Pid ! {answer, Id, #{result => case IsEnd of true -> News#{exit => Exit}; false -> News end}}),
    IsNews.

part(All, From, Max) ->
    Length = max(0, min(Max, byte_size(All) - From)),
    {binary:part(All, min(From, byte_size(All)), Length), From + Length >= byte_size(All)}.

%% --- workers

words() -> [<<"print">>, <<"wait">>, <<"deaf">>, <<"count">>, <<"crash">>, <<"tool">>, <<"spawn">>, <<"ask">>,
            <<"context">>].

work(Keeper, Start = #{<<"argv">> := Argv}) ->
    Print = fun(Text) -> gen_server:cast(Keeper, {print, stdout, <<Text/binary, "\n">>}) end,
    case Argv of
        [<<"print">>, Code | Lines] -> [Print(Line) || Line <- Lines], exit({code, binary_to_integer(Code)});
        [<<"wait">>] -> Print(<<"ready">>), receive never -> ok end;
        [<<"deaf">>] -> process_flag(trap_exit, true), Print(<<"ready">>), deaf();
        [<<"count">>, To, Ms] -> count(Print, 1, binary_to_integer(To), binary_to_integer(Ms));
        [<<"crash">>] -> error(it_was_told_to);
        [<<"tool">>, Skill, Input] ->
            #{<<"cwd">> := Cwd} = Start,
            Data = #{skill => Skill, input => jiffy:decode(Input, [return_maps]), workspace => Cwd},
            Print(asked(Start, <<"skill/run">>, Data));
        [<<"spawn">> | Child] ->
            #{<<"cwd">> := Cwd, <<"worker_id">> := Id} = Start,
            Spec = #{kind => <<"command">>, argv => Child, cwd => Cwd, parent => Id, runtime => <<"beam">>,
                     restart => <<"temporary">>},
            Print(asked(Start, <<"agent/spawn">>, #{spec => Spec}));
        [<<"ask">>, Id, Text] -> Print(asked(Start, <<"agent/ask">>, #{id => Id, text => Text}));
        %% Its companion context, a layer a line: itself, those around it, and what the timeline says of a text.
        [<<"context">>, Text] ->
            #{<<"worker_id">> := Id} = Start,
            Layers = [{<<"agent/info">>, #{id => Id}}, {<<"agent/tree">>, #{}}, {<<"agent/search">>, #{text => Text}}],
            Answers = [asked(Start, Command, Data) || {Command, Data} <- Layers],
            [Print(Answer) || Answer <- Answers]
    end,
    exit({code, 0}).

deaf() -> receive _ -> deaf() end.

count(_, At, To, _) when At > To -> ok;
count(Print, At, To, Ms) -> Print(integer_to_binary(At)), timer:sleep(Ms), count(Print, At + 1, To, Ms).

%% --- the daemon's own socket, with its own deadline and its own breaker: while it is down, runs go on

asked(Start, Command, Data) ->
    Now = erlang:monotonic_time(millisecond),
    case ets:lookup(calls, daemon) of
        [{_, Failures, Until}] when Failures >= ?FAILURES_MAX, Now < Until -> exit({code, 75});
        _ -> ok
    end,
    try called(Start, Command, Data) of
        Answer -> ets:delete(calls, daemon), Answer
    catch
        error:Reason ->
            ets:update_counter(calls, daemon, 1, {daemon, 0, 0}),
            ets:update_element(calls, daemon, {3, Now + ?REST_MS}),
            <<"the daemon did not answer: ", (text(Reason))/binary>>
    end.

%% A connection is one caller, so each run has its own.
called(#{<<"daemon_socket">> := Path, <<"run">> := Run}, Command, Data) ->
    {ok, Socket} = gen_tcp:connect({local, Path}, 0, [binary, {packet, line}, {buffer, ?FRAME_MAX}, {active, false}], 5000),
    Request = #{version => 1, command => Command, data => Data, meta => #{run => Run, request_id => <<"1">>}},
    ok = gen_tcp:send(Socket, [jiffy:encode(Request), $\n]),
    terminal(Socket).

terminal(Socket) ->
    {ok, Line} = gen_tcp:recv(Socket, 0, ?ANSWER_MS),
    case jiffy:decode(Line, [return_maps]) of
        #{<<"status">> := <<"progress">>} -> terminal(Socket);
        #{<<"status">> := <<"ok">>, <<"data">> := Data} -> iolist_to_binary(jiffy:encode(Data));
        #{<<"error">> := #{<<"message">> := Message}} -> <<"refused: ", Message/binary>>
    end.

text(Term) -> iolist_to_binary(io_lib:format("~0p", [Term])).
