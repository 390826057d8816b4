// Command fleet measures what a fleet costs: how many jobs a second its workers work on, beside bare workers of River that do nothing, that start true and
// that start belay run -- true, as the fleet's workers do, all on the same PostgreSQL and in turn; and what a member takes that has nothing to do.
//
// PostgreSQL is started as it comes, with fsync and synchronous commits. A job is true; the first begins and the last is on record as ended by
// PostgreSQL's own times.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleet/jobs"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
)

// coolDown is how soon River looks for jobs again. It is that of the fleet's workers: with River's own, 100 ms, four workers do 40 jobs a second at most.
const coolDown = 10 * time.Millisecond

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "bin", "where belay is")
	rounds := flag.Int("rounds", 5, "how often each candidate works")
	count := flag.Int("jobs", 1000, "how many jobs a round has")
	workers := flag.Int("workers", 4, "how many jobs are worked on at a time")
	idle := flag.Duration("idle", 30*time.Second, "how long an idle member is watched; 0 leaves it out")
	bare := flag.String("river", "", "only be a bare worker of River, on the PostgreSQL of this DSN")
	program := flag.String("program", "", "what the bare worker starts for each job")
	flag.Parse()
	if *bare != "" {
		workBare(*bare, *workers, *program)
		return
	}
	server, err := fleettest.Start("fsync=on", "full_page_writes=on")
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	dir, err := os.MkdirTemp("", "belay-bench-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := filepath.Abs(filepath.Join(*bin, "belay"))
	if err != nil {
		log.Fatal(err)
	}
	b := &bench{belay: path, dir: dir, server: server, workers: *workers}
	if *rounds > 0 {
		b.compare(*rounds, *count)
	}
	if *idle > 0 {
		b.idle(*idle, 0)
		b.idle(*idle, *workers)
		b.idleBare(*idle)
	}
}

type bench struct {
	belay, dir string
	server     *fleettest.Server
	workers    int
	databases  int
	size       int64 // of a job in PostgreSQL that has ended, in bytes, before a vacuum
}

// candidate is a way to work on jobs.
type candidate struct {
	name    string
	program string // of a bare worker, with arguments; none does nothing
	fleet   bool
	rates   []float64 // jobs a second
	cpu     []float64 // milliseconds a job, of the worker and what it has started
}

func (b *bench) compare(rounds, count int) {
	candidates := []*candidate{{name: "bare River, nothing"}, {name: "bare River, true", program: "true"},
		{name: "bare River, belay run", program: b.belay + " run --quiet --no-stdin -- true"}, {name: "belay fleet, true", fleet: true}}
	for range rounds {
		for _, i := range rand.Perm(len(candidates)) {
			c := candidates[i]
			var rate float64
			var cpu time.Duration
			if c.fleet {
				rate, cpu = b.fleet(count)
			} else {
				rate, cpu = b.bare(c.program, count)
			}
			c.rates, c.cpu = append(c.rates, rate), append(c.cpu, cpu.Seconds()*1000/float64(count))
		}
	}
	fmt.Printf("%d jobs, %d at a time on one machine: %d rounds, interleaved; medians, ratios of the same round\n\n", count, b.workers, rounds)
	fmt.Printf("%-22s %10s %12s %12s %14s %14s\n", "", "jobs/s", "to nothing", "to true", "to belay run", "CPU a job, ms")
	for _, c := range candidates {
		fmt.Printf("%-22s %10.0f %12.2f %12.2f %14.2f %14.1f\n", c.name, median(c.rates), ratio(c.rates, candidates[0].rates), ratio(c.rates, candidates[1].rates),
			ratio(c.rates, candidates[2].rates), median(c.cpu))
	}
	fmt.Printf("\n%d bytes a job in PostgreSQL, with all that was written of it\n", b.size)
}

func ratio(own, peer []float64) float64 {
	var list []float64
	for i := range own {
		list = append(list, own[i]/peer[i])
	}
	return median(list)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// database makes an empty database, and returns its DSN.
func (b *bench) database() (dsn string) {
	b.databases++
	name := fmt.Sprintf("bench%d", b.databases)
	b.exec("postgres", "create database "+name)
	return b.server.DSN(name)
}

func (b *bench) exec(database, sql string) {
	conn, err := pgx.Connect(context.Background(), b.server.DSN(database))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		log.Fatal(err)
	}
}

// bare is how many jobs a second a bare worker of River works on.
func (b *bench) bare(program string, count int) (perSecond float64, cpu time.Duration) {
	ctx := context.Background()
	dsn, pool := b.river()
	defer pool.Close()
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	params := make([]river.InsertManyParams, count)
	for i := range params {
		params[i] = river.InsertManyParams{Args: job{i}}
	}
	if _, err := client.InsertManyFast(ctx, params); err != nil {
		log.Fatal(err)
	}
	stop := start(b.bareWorker(dsn, program))
	perSecond = rate(pool, count, "select count(*), extract(epoch from max(finalized_at) - min(attempted_at))::float8 from river_job where state = 'completed'")
	return perSecond, stop()
}

// river makes a database with River's tables alone.
func (b *bench) river() (dsn string, pool *pgxpool.Pool) {
	ctx := context.Background()
	dsn = b.database()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		log.Fatal(err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		log.Fatal(err)
	}
	return dsn, pool
}

// bareWorker is this program as a bare worker of River.
func (b *bench) bareWorker(dsn, program string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	worker := exec.Command(self, "-river", dsn, "-workers", fmt.Sprint(b.workers), "-program", program)
	worker.Env = b.machine(dsn).env()
	return worker
}

// fleet is how many jobs a second a worker of the fleet works on.
func (b *bench) fleet(count int) (perSecond float64, cpu time.Duration) {
	ctx := context.Background()
	dsn := b.database()
	m := b.machine(dsn)
	if out, err := m.command("fleet", "init").CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	address, err := store.ParseAddress(dsn, os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	db, err := store.Open(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	key, err := jobs.ReadKey(filepath.Join(m.dir, "config/belay/fleet.key"))
	if err != nil {
		log.Fatal(err)
	}
	client := &jobs.Client{Store: db, Batch: "bench", Key: key}
	tasks := make([]*fleetpipe.Task, count)
	for i := range tasks {
		tasks[i] = &fleetpipe.Task{ID: fmt.Sprint(i), Hash: fmt.Sprint(i), Job: fleetpipe.Job{Args: []string{"true"}}}
	}
	if err := client.Submit(ctx, tasks); err != nil {
		log.Fatal(err)
	}
	stop := start(m.command("fleet", "join", fmt.Sprintf("--workers=%d", b.workers)))
	perSecond = rate(db.Pool, count, "select count(*), extract(epoch from max(ended) - min(started))::float8 from belay.job where state = 'over'")
	var size int64
	if err := db.Pool.QueryRow(ctx, "select pg_total_relation_size('belay.job') + pg_total_relation_size('belay.river_job')").Scan(&size); err != nil {
		log.Fatal(err)
	}
	b.size = size / int64(count)
	return perSecond, stop()
}

// rate waits until all jobs are on record as ended, and says how many that were a second.
func rate(pool *pgxpool.Pool, count int, sql string) float64 {
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var ended int
		var seconds *float64
		if err := pool.QueryRow(context.Background(), sql).Scan(&ended, &seconds); err != nil {
			log.Fatal(err)
		}
		if ended == count {
			return float64(count) / *seconds
		}
		if time.Now().After(deadline) {
			log.Fatalf("%d of %d jobs have ended", ended, count)
		}
	}
}

// machine is a state directory.
type machine struct{ belay, dir, dsn string }

func (b *bench) machine(dsn string) *machine {
	dir, err := os.MkdirTemp(b.dir, "m")
	if err != nil {
		log.Fatal(err)
	}
	config := filepath.Join(dir, "config/belay")
	if err := os.MkdirAll(config, 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "config.toml"), []byte("[fleet]\nallow = [\"generic\"]\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	return &machine{b.belay, dir, dsn}
}

func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(m.belay, args...)
	cmd.Env = m.env()
	return cmd
}

func (m *machine) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "XDG_CONFIG_HOME=" + filepath.Join(m.dir, "config"), "BELAY_STATE_DIR=" + filepath.Join(m.dir, "state"), "BELAY_FLEET_DSN=" + m.dsn, "BELAY_FOLD=off"}
}

// start starts a process, and returns what ends it and says how much CPU time it has used.
func start(cmd *exec.Cmd) (stop func() time.Duration) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	return func() time.Duration {
		cmd.Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(20*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer late.Stop()
		cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
}

// idle says what a member takes that has nothing to do.
func (b *bench) idle(d time.Duration, workers int) {
	dsn := b.database()
	m := b.machine(dsn)
	if out, err := m.command("fleet", "init").CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	b.watch(fmt.Sprintf("an idle member with %d workers", workers), dsn, m.command("fleet", "join", fmt.Sprintf("--workers=%d", workers)), d)
}

// idleBare says what a bare worker of River takes that has nothing to do.
func (b *bench) idleBare(d time.Duration) {
	dsn, pool := b.river()
	pool.Close()
	b.watch(fmt.Sprintf("an idle bare River with %d workers", b.workers), dsn, b.bareWorker(dsn, ""), d)
}

// watch says what a process takes.
func (b *bench) watch(what, dsn string, cmd *exec.Cmd, d time.Duration) {
	stop := start(cmd)
	defer stop()
	time.Sleep(10 * time.Second) // it joins, and its first statements are prepared
	name := dsn[strings.LastIndex(dsn, "=")+1:]
	before, done := ticks(cmd.Process.Pid), b.transactions(name)
	time.Sleep(d)
	used := time.Duration(ticks(cmd.Process.Pid)-before) * 10 * time.Millisecond
	conn, err := pgx.Connect(context.Background(), b.server.DSN("postgres"))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(context.Background())
	var connections int
	if err := conn.QueryRow(context.Background(), "select count(*) from pg_stat_activity where datname = $1 and backend_type = 'client backend'", name).Scan(&connections); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\n%s: %.2f %% of a core over %v, %d connections, %.1f transactions a second\n", what, 100*used.Seconds()/d.Seconds(), d, connections,
		float64(b.transactions(name)-done)/d.Seconds())
}

// transactions is how many a database has seen. Servers tell of them with up to a second's delay.
func (b *bench) transactions(database string) (n int64) {
	conn, err := pgx.Connect(context.Background(), b.server.DSN("postgres"))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(context.Background(), "select xact_commit + xact_rollback from pg_stat_database where datname = $1", database).Scan(&n); err != nil {
		log.Fatal(err)
	}
	return n
}

// ticks is the CPU time of a process and of the children that it has waited for, in hundredths of a second. belay becomes belayd: the number stays.
func ticks(pid int) (sum int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		log.Fatal(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	for _, field := range fields[11:15] {
		var n int64
		fmt.Sscan(field, &n)
		sum += n
	}
	return sum
}

// job is one of River's.
type job struct {
	N int `json:"n"`
}

// Kind implements [river.JobArgs].
func (job) Kind() string { return "bench" }

type worker struct {
	river.WorkerDefaults[job]
	program []string
}

// Work implements [river.Worker].
func (w *worker) Work(ctx context.Context, _ *river.Job[job]) error {
	if len(w.program) == 0 {
		return nil
	}
	return exec.CommandContext(ctx, w.program[0], w.program[1:]...).Run()
}

// workBare works on River's jobs until it is stopped.
func workBare(dsn string, count int, program string) {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		log.Fatal(err)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{program: strings.Fields(program)})
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: count}}, Workers: workers, JobTimeout: -1,
		FetchCooldown: coolDown, FetchPollInterval: time.Second, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Start(ctx); err != nil {
		log.Fatal(err)
	}
	select {}
}
