"""A million sentences on a cluster of this machine: nothing lost, memory flat, and what the cluster costs.

    python bench/cluster.py stream [SENTENCES]   64 shards on an S3-compatible server, two workers, driver killed twice
    python bench/cluster.py overhead             two workers of one thread against one process of two
    python bench/cluster.py extract FOLDER       a corpus, as bench/corpus.py --keep FOLDER made it, searched by one
                                                 process and by two machines

Everything listens on 127.0.0.1. Needs ray; `stream` also moto[server], s3fs and psutil.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
HERE = Path(__file__).parent
LOOPBACK = "127.0.0.1"
SHARDS = 64
NOUNS = "cat dog king man house tree child boy queen bird horse road river stone lamp door window garden letter song"
WORDS = NOUNS.split()
PROGRAM = [sys.executable, "-m", "penchant.cli.app"]


@contextmanager
def cluster() -> Iterator[str]:
    """Yield the address of a cluster with two machines of one processor, and a head that does no work."""
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "node_ip_address": LOOPBACK, "include_dashboard": False, "object_store_memory": 200_000_000}
    machines = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        machines.add_node(num_cpus=1, node_ip_address=LOOPBACK, object_store_memory=200_000_000)
    try:
        yield str(machines.address)
    finally:
        machines.shutdown()


@contextmanager
def bucket(sentences: int) -> Iterator[str]:
    """The URL of shards of sentences on a server that speaks S3."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address=LOOPBACK, port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }
    client = boto3.client("s3")
    client.create_bucket(Bucket="texts")
    for shard in range(SHARDS):
        client.put_object(
            Bucket="texts", Key=f"part-{shard:03}.txt", Body=shard_text(shard, sentences // SHARDS).encode()
        )
    try:
        yield "s3://texts/"
    finally:
        server.stop()


def shard_text(shard: int, n: int) -> str:
    """Short sentences, most of them distinct."""
    rng = random.Random(shard)
    forms = ("The {} sees the {}.", "A {} and a {} near the {}.", "The old {} has a {}.", "No {} of the {} is here.")
    return "".join(rng.choice(forms).format(*rng.choices(WORDS, k=3)) + "\n" for _ in range(n))


def tiny(folder: Path) -> Path:
    """The tests' tiny GPT-2."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    import zoo

    return zoo.build("gpt2", folder)


class Memory(threading.Thread):
    """The watch on the resident memory of the driver and of the workers, in MB, every two seconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.curve: list[tuple[float, float, float]] = []
        self.driver: int | None = None
        self._began = time.monotonic()

    def run(self) -> None:
        import psutil

        while True:
            workers = [
                p.memory_info().rss
                for p in psutil.process_iter(["name"])
                if (p.info["name"] or "").startswith("ray::Worker")
            ]
            try:
                driver = psutil.Process(self.driver).memory_info().rss if self.driver else 0
            except psutil.NoSuchProcess:
                driver = 0
            self.curve.append((time.monotonic() - self._began, driver / 1e6, max(workers, default=0) / 1e6))
            time.sleep(2)


def stream(sentences: int) -> None:
    """Score all shards; kill the driver twice on the way; hold one shard against this process."""
    import polars as pl

    with tempfile.TemporaryDirectory() as home, bucket(sentences) as url, cluster() as address:
        model, out = tiny(Path(home)), Path(home) / "scores"
        command = [*PROGRAM, "score", "-m", str(model), url, "--on", address, "-o", str(out)]
        memory = Memory()
        memory.start()
        began, kills = time.monotonic(), [SHARDS // 4, SHARDS // 2]
        while True:
            driver = subprocess.Popen([*command, *(["--resume"] if (out / "stream.json").exists() else [])])
            memory.driver = driver.pid
            while driver.poll() is None:
                time.sleep(0.5)
                if kills and len(list(out.glob("*.parquet"))) >= kills[0]:
                    driver.send_signal(signal.SIGKILL)
                    kills.pop(0)
            if driver.returncode == 0:
                break
            if driver.returncode != -signal.SIGKILL:
                raise SystemExit(driver.returncode)
            print(
                f"driver ended with {driver.returncode}, {len(list(out.glob('*.parquet')))} shards are there",
                flush=True,
            )
        seconds = time.monotonic() - began
        files = sorted(out.glob("*.parquet"))
        rows = sum(pl.scan_parquet(file).select(pl.len()).collect().item() for file in files)
        assert len(files) == SHARDS, len(files)
        assert rows == sentences // SHARDS * SHARDS, rows
        sampled = Path(home) / "sampled.txt"
        sampled.write_text(shard_text(17, sentences // SHARDS), "utf-8")
        here = Path(home) / "here.parquet"
        with here.open("wb") as target:
            subprocess.run(
                [*PROGRAM, "score", "-m", str(model), str(sampled), "--format", "parquet", "--cache", "none"],
                stdout=target,
                check=True,
            )
        ours, theirs = pl.read_parquet(here), pl.read_parquet(next(out.glob("part-017*.parquet"))).drop("record")
        assert ours.drop("score", "logprobs").equals(theirs.drop("score", "logprobs"))
        furthest = (ours["score"] - theirs["score"]).abs().max()
        print(f"{rows:,} sentences, {SHARDS} shards, two stops: {seconds:.0f} s, {rows / seconds:,.0f}/s")
        print(f"largest difference in a shard scored here: {furthest:.1e}")
        tenth = max(1, len(memory.curve) // 10)
        for at, driver_mb, workers_mb in memory.curve[::tenth]:
            print(f"{at:6.0f} s  driver {driver_mb:6.0f} MB  largest worker {workers_mb:6.0f} MB")


def overhead(sentences: int) -> None:
    """Compare the time of one process with two threads with that of two workers with one, without starting them."""
    import torch

    from penchant.cluster.backend import RayBackend
    from penchant.cluster.connect import ClusterOptions, joined
    from penchant.cluster.model_transfer import wanted
    from penchant.cluster.pool import WorkerPool
    from penchant.engine.scorer import Scorer, language_model, numbered
    from penchant.models.load import load

    texts = shard_text(0, sentences).splitlines()
    with tempfile.TemporaryDirectory() as home, cluster() as address:
        for spec in (str(tiny(Path(home))), "bundled:modern", *filter(None, [os.environ.get("PENCHANT_BENCH_MODEL")])):
            torch.set_num_threads(2)
            model = language_model(load(spec))
            place = ClusterOptions(address)
            with joined(place):
                pool = WorkerPool(place, wanted(model, spec))
                pool.ready()
                ratios, shares = [], []
                for _ in range(3):
                    began = time.perf_counter()
                    alone = [score.score for score in Scorer(model).score(numbered(texts))]
                    local = time.perf_counter() - began
                    began, busy = time.perf_counter(), time.process_time()
                    both = [s.score for s in Scorer(model, backend=RayBackend(model, pool)).score(numbered(texts))]
                    remote = time.perf_counter() - began
                    ratios.append(remote / local)
                    shares.append((time.process_time() - busy) / remote)
                    assert max(abs(a - b) for a, b in zip(alone, both, strict=True)) < 1e-3
                pool.close()
            told = f"two workers / two threads {sorted(ratios)[1]:.2f}, driver busy {sorted(shares)[1]:.0%} of the time"
            print(f"{model.name}: {told}")


def extract(folder: Path) -> None:
    """Compare the tables of one process and of two machines, byte for byte."""
    texts, stimuli = sorted(map(str, (folder / "text").glob("*.txt"))), str(folder / "set.yaml")
    with tempfile.TemporaryDirectory() as home, cluster() as address:
        times = {}
        for name, options in (("one process", ["--workers", "1"]), ("two machines", ["--on", address])):
            out = Path(home) / f"{name.replace(' ', '-')}.parquet"
            began = time.perf_counter()
            subprocess.run(
                [*PROGRAM, "corpus", "extract", *texts, "--data", stimuli, "-o", str(out), *options],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            times[name] = time.perf_counter() - began
        one, two = (file.read_bytes() for file in sorted(Path(home).glob("*.parquet")))
        print(json.dumps({"same bytes": one == two, **{name: round(seconds, 1) for name, seconds in times.items()}}))
        assert one == two


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stream", "overhead", "extract"])
    parser.add_argument("given", nargs="*")
    asked = parser.parse_args()
    if asked.what == "extract":
        extract(Path(asked.given[0]))
    else:
        number = int(asked.given[0]) if asked.given else {"stream": 1_000_000, "overhead": 4_000}[asked.what]
        {"stream": stream, "overhead": overhead}[asked.what](number)
