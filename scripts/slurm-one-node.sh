#!/usr/bin/env bash
# A Slurm cluster of this one computer, for tests: `start FOLDER` and `stop FOLDER`. Needs root and Debian's slurm-wlm and munge.
# Clients use it with SLURM_CONF=FOLDER/slurm.conf.
set -euo pipefail
[ $# = 2 ] || { echo "usage: $0 start|stop FOLDER" >&2; exit 2; }
folder=$2

# Ends a daemon by the number it left, and waits until it has gone.
end() {
    [ -f "$1" ] || return 0
    local id
    id=$(cat "$1")
    kill "$id" 2> /dev/null || true
    for _ in $(seq 50); do
        kill -0 "$id" 2> /dev/null || break
        sleep 0.1
    done
    kill -9 "$id" 2> /dev/null || true
    rm -f "$1"
}

stop() {
    end "$folder/slurmd.pid"
    end "$folder/slurmctld.pid"
    end "$folder/munge/munged.pid"
}

if [ "$1" = stop ]; then
    stop
    exit 0
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir -p "$folder/state" "$folder/spool" "$folder/munge"
chmod 755 "$folder" "$folder/munge"
host=$(hostname -s)
cpus=$(nproc)
memory=$(($(awk '/MemTotal/ { print $2 }' /proc/meminfo) / 1024 * 9 / 10))

# A key and a socket of its own: a munge that runs already stays as it is.
[ -f "$folder/munge/key" ] || head -c 1024 /dev/urandom > "$folder/munge/key"
chmod 600 "$folder/munge/key"
munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" --pid-file="$folder/munge/munged.pid" \
    --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"

# Ports that nobody else uses: derived from the number of this process.
port=$((20000 + $$ % 20000))
cat > "$folder/slurm.conf" << CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MaxArraySize=100001
MaxJobCount=200000
KillWait=2
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=batch Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld
slurmd
for _ in $(seq 100); do
    if sinfo --noheader --format=%T 2> /dev/null | grep -q idle; then
        echo "$SLURM_CONF"
        exit 0
    fi
    sleep 0.2
done
echo "the node does not become idle:" >&2
sinfo >&2 || true
tail -n 20 "$folder/slurmctld.log" "$folder/slurmd.log" >&2
stop
exit 1
