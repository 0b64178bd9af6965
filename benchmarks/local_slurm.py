"""A whole SLURM on this machine, in a folder of its own: munged, slurmctld and slurmd on loopback, one node.

    with LocalSlurm(folder) as slurm:
        os.environ |= slurm.environment      # then sbatch, squeue and `surefoot run --slurm` use it

The node says that it has as many CPUs as asked for: jobs that sleep need none. There is no accounting (no sacct) and
no control groups. The daemons die with this process, however it ends, and with them all jobs.
"""

import contextlib
import os
import platform
import pwd
import shutil
import socket
import subprocess
import time
from pathlib import Path

from surefoot.execute.processes import Processes

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
_START_S = 60.0
_CONFIGURATION = """
ClusterName=surefoot
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MinJobAge=60
MpiDefault=none
SwitchType=switch/none
NodeName=here NodeHostname={host} NodeAddr=127.0.0.1 Port={node} CPUs={cpus} State=UNKNOWN
PartitionName=work Nodes=here Default=YES MaxTime=60 State=UP
"""


def missing_programs() -> list[str]:
    """Those of SLURM that are not installed (Debian: apt-get install slurm-wlm munge)."""
    return [name for name in PROGRAMS if _find(name) is None]


def _find(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class LocalSlurm:
    """Entered: a SLURM that takes jobs. `folder` must be short (a socket lies in it) and closed to other users."""

    def __init__(self, folder: Path, cpus: int = 16) -> None:
        self.folder = folder
        self._processes = Processes()
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        for name in ("state", "spool"):
            (folder / name).mkdir(parents=True)
        (folder / "munge.key").write_bytes(os.urandom(128))
        (folder / "munge.key").chmod(0o600)
        self._configuration = folder / "slurm.conf"
        self._configuration.write_text(
            _CONFIGURATION.format(
                host=platform.node().split(".")[0],
                user=pwd.getpwuid(os.getuid()).pw_name,
                folder=folder,
                controller=_free_port(),
                node=_free_port(),
                cpus=cpus,
            )
        )

    @property
    def environment(self) -> dict[str, str]:
        """What SLURM's commands have to be told."""
        return {"SLURM_CONF": str(self._configuration)}

    def __enter__(self) -> "LocalSlurm":
        own = ["--socket", "--pid-file", "--log-file", "--seed-file", "--key-file"]
        names = ["munge.socket", "munge.pid", "munge.log", "munge.seed", "munge.key"]
        places = [f"{option}={self.folder / name}" for option, name in zip(own, names, strict=True)]
        self.start("munged", "--foreground", "--force", *places)
        self.start_controller()
        self.start("slurmd", "-D", "-N", "here", "-f", str(self._configuration))
        try:
            self.wait_for("the node", lambda: "idle" in self.tell("sinfo", "--noheader", "--format=%T"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._daemons.values():
            self._processes.stop(process)

    def start(self, daemon: str, *arguments: str) -> None:
        """Start a daemon, with what it prints in a file; it dies with us."""
        program = _find(daemon)
        assert program is not None, f"{daemon} is not installed (apt-get install slurm-wlm munge)"
        with (self.folder / f"{daemon}.out").open("ab") as out:
            self._daemons[daemon] = self._processes.start([program, *arguments], stdout=out, stderr=out)

    def start_controller(self) -> None:
        """SLURM's own controller; again after it was stopped."""
        self.start("slurmctld", "-D", "-f", str(self._configuration))

    def stop_controller(self) -> None:
        """Stop it; jobs go on."""
        self._processes.stop(self._daemons.pop("slurmctld"))

    def tell(self, *command: str) -> str:
        """What one of SLURM's commands prints; nothing if it fails."""
        environment = {**os.environ, **self.environment}
        with contextlib.suppress(subprocess.TimeoutExpired):
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30.0).stdout
        return ""

    def jobs(self) -> list[str]:
        """The numbers of the jobs that run."""
        return self.tell("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()

    def node(self, state: str) -> None:
        """Set the state of the node: drain, resume, down."""
        self.tell("scontrol", "update", "nodename=here", f"state={state}", "reason=test")

    def wait_for(self, what: str, holds) -> None:
        """Until it holds; an error with the daemons' logs after a minute."""
        deadline = time.monotonic() + _START_S
        while not holds():
            if time.monotonic() > deadline:
                logs = "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))
                raise TimeoutError(f"waited {_START_S:g} s for {what} of SLURM in vain; its logs:\n{logs}")
            time.sleep(0.1)
