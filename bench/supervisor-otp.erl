%% OTP's own supervisor, for `supervisor.ts`: permanent children, all of which crash and are begun again, round after round,
%% in a window that is never passed. A supervisor walks its list of restarts at each restart, so there is one for every
%% hundred children: with ten thousand under one it would be that list which is measured. Prints JSON.
-module('supervisor-otp').
-behaviour(supervisor).
-export([main/1, init/1, start_child/1, child/1]).

-define(WARM_ROUNDS, 3).
-define(CHILDREN, 100).

main([Workers, Rounds]) ->
    logger:set_primary_config(level, none),
    N = list_to_integer(Workers),
    R = list_to_integer(Rounds),
    erlang:garbage_collect(),
    Before = erlang:memory(total),
    Supervisors = [Pid || _ <- lists:seq(1, N div ?CHILDREN), {ok, Pid} <- [supervisor:start_link(?MODULE, [])]],
    [{ok, _} = supervisor:start_child(Pid, [self()]) || Pid <- Supervisors, _ <- lists:seq(1, ?CHILDREN)],
    Pids = lists:foldl(fun(_, Now) -> round(N, Now) end, begun(N, []), lists:seq(1, ?WARM_ROUNDS)),
    [erlang:garbage_collect(Pid) || Pid <- [self() | Supervisors]],
    Bytes = (erlang:memory(total) - Before) / N,
    Started = erlang:monotonic_time(microsecond),
    lists:foldl(fun(_, Now) -> round(N, Now) end, Pids, lists:seq(1, R)),
    Seconds = (erlang:monotonic_time(microsecond) - Started) / 1000000,
    io:format("{\"restarts_per_s\":~.3f,\"bytes_per_worker\":~.3f}~n", [N * R / Seconds, Bytes]),
    halt(0).

round(N, Pids) ->
    [Pid ! crash || Pid <- Pids],
    begun(N, []).

begun(0, Pids) -> Pids;
begun(N, Pids) -> receive {begun, Pid} -> begun(N - 1, [Pid | Pids]) end.

init([]) ->
    Child = #{id => child, start => {?MODULE, start_child, []}, restart => permanent, shutdown => brutal_kill},
    {ok, {#{strategy => simple_one_for_one, intensity => 1000000000, period => 1}, [Child]}}.

start_child(Bench) -> {ok, proc_lib:spawn_link(?MODULE, child, [Bench])}.

child(Bench) ->
    Bench ! {begun, self()},
    receive crash -> exit(crashed) end.
