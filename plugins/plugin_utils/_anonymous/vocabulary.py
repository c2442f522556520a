# Copyright (c) The ipu.pod authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The words of EOS, V-IPU, Linux and its NICs, in lower case. Every other word in an answer may be somebody's."""

from __future__ import annotations

# Words that a number may follow, such as the traffic classes tc0 to tc7.
_NUMBERED = """
bps ch dcb dhcp dscp ether inet ip ipv lacp layer mlx mst pfc port p prio priority q qos queue rx sr tc tx v vl vers
"""
NUMBERED = frozenset(_NUMBERED.split())

_WORDS = """
100gbase 10gbase 25gbase 3ad 400gbase 40gbase a aaa aarch64 abort aborted about above absent accept access account
accuracy accuracysec acl action activating activation active actor ad add addr address addresses addressing
addrgenmode addrinfo admin administrator advertise advertised ae aes af after again age agent agents agg aggregate
agree alb alias aliases align aligned alignment all allmulti allocation allocations allow allowas allowed almalinux
alone already also altnames always am amd64 among an and anew another ansi ansible answer answered answers any anycast
aoc apache api app apparmor appctl appear appears append application apply apr april apt arch architecture
architectures archive are argument arista aristanetworks arm armed armv7 around arp as ascending ascii asked asks asn
assumed at attach attached attributes attrs audit aug august auth authenticate authentication authorization auto
autofs autoneg autonegotiate autonegotiation autosave available away aws azure b back backend background backup
backwards bad balance bandwidth banner bare base bash basic be because becomes been before begin behind belong belongs
below beside between bfd bgp bia bin bindings binds bindsto binfmt bitmap blackhole ble blkid blkio block blocked
blocks bluefield board bond bonds bookworm bool boot booted bootup both bounding bow bow2000 bpdufilter bpduguard bpf
brd bridge bridged bridges broadcast broadcom broke broken bsr btnc btrfs buffer bug bugs build bullseye bundled
burned bus buster busy but bw by bytes bzip bzip2 c c2 ca cable cables cabling call came can canary candidate cannot
cap capabilities capability caps carrier carries carry cartridge causes ce cee cells celsius centi centos cert
certificate certificates certs cest cet cgroup cgroup2 cgroupv change changed changes channel channels chassis
chassisid check checked checks children chip choices choose chrony cifs class classes classic clean clear cli client
clientaddr clock cloud cls cluster clusters cm cma cmap cmd cmds cni code codel codename collection color columns com
come comes comm command commands comments commit commitby committed community compare compared compatible compiled
complete completed conf config configfs configs configuration configure configured configures confirm confirmation
confirmed congestion connect connected connection connections connectx console contact containerd containerenv
containers content contradict control controlled controller controllers copper copy core correct correction cos cost
could count counted counters course cpe cpu cpuacct cpuset cq cqe cr cr4 crc create created creates creating creation
credentials cron crt cs ctl ctrl ctx curl curr current cut cuts cvx cwnd cx d dac dadfailed daemon daily damaged dark
data days db dbus dcb dcbnl dcbx dcs deadline debian debugfs dec december decides declarations declare declared
default defaults degraded del delay delete deletes deletions dell denied dense deny depend depends deprecated depth
des descending description descriptor destination detail details detect detected dev device devices devpts devtmpfs
dhcp dhcp4 dhcp6 dict did die diff different diffs dir directories directory disable disabled disappeared discard
discards discover discovery distance divisor dnc dns do docker documentation documented does domain domains done
dormant dot dot1x down dpkg dr4 driver drivers drop drops ds dsa dscp dt dummy dump duplex dynamic e e2scrub each eapi
ebgp ecdsa echo ecn ed ed25519 edge edited eeprom efivarfs egress either elements elfutils else email empty enable
enabled encapsulation encoding end ended enforce enlarge enter entities entity entries entry env environ environment
eof eos eperm eq equal err errdisable errdisabled error errors errs escape est establish eswitch et etc ether ethernet
ethernets ethtool ets eu eui eui64 even event every everybody everything evpn exactly example except exclude exec
exist exists exit expand expansion expect expire explanation export exporter expression ext4 external externally ey f
fa fabric failed fails failure fallback false families family fan far fast fcs fdb feature feb february fec fedora
feel ffff fi fido2 field fields file filename files filesystems filter find findings fine fips fire firmware first
firstboot fit fixed flag flags flash float flood flow flush focal follow follows for force forced foreign forever
forget forgotten form format forty forward forwarding forwards found fq fqdn fr4 frame frames frametoolongs framework
free freedesktop freezer fri friday from fs fstrim full func function functions fuse fusectl g gained gateway gathered
gave gbase gbe gbps gc gcd gcdid gcds gcrypt gen generate generates generation generic get gets getty giants gid gids
give given gives global gmt gnmi gnu gnutls go goes going gone google got graphcore graphical gratuitous gre grep gro
group groups grpc grpcio grt gs gs1 gs2 gsi gso guaranteed guid guide gw gwsw h had hand handler hard hardware has
hash have having hcl hds header headings held hello help helper here hierarchy high hold holds home hop host hostkey
hostname hosts hours how hpe http https hugepages hugetlb hugetlbfs hw hwdb hwmacaddress hybrid i i386 i686 ib icmp id
identify idle idn idn2 ids ieee if ifalias ifindex ifla ifname igmp ignore igp ikev ild ima image import in inactive
inactivelag inband inbound inbox inc include included incomplete independent index indexes indiscards individual
inerrors inet inet6 inf infiniband info information ingress ini init inoctets inode64 inodes input inserts install
installation installed instances instead int intel interface interfaceid interfaces internal interval intf intfs intl
into inucastpkts invalid iov ip ipoib iproute iproute2 ips ipsec ipsla iptc ipu ipul ipulink ipuof ipus ipv
ipv6acceptra ipv6ll ipvlan irt is isintlversion isis iso9660 it its itself j jammy jan january jericho journal
journalctl json jsonrpc jul july jumbo jun june just k kb kbit kbps kbytes keep keepalive keeps kept kernel key keys
kind kinds kk kmod known l l2 l3 label lacks lacp lag lanes larger last latency later latest launchpad layer2 layer3
layer34 lc ldp leaf learned learning lease least leave leaves left legacy len length let lets level lft lib libbpf
libcryptsetup libfdisk libfdo libiptc lid lies life lifetime like limit line lines link linkinfo links linkstate
linktype linux list listed listen listened listener lists live lladdr lldp lmc lo load loaded local localdomain
localhost locallabel lock locks log logged logging login logind logo logout logs longer longs look looks loopback
looped lossless lossy lost low lower lowerdir lowerlayerdown lowlatency lpm lqpn lr4 lsp lsr lts lz4 m m2000 mab mac
macaddress machine machines macs macsec macvlan macvrf made main maintenance major make makes managed management
manager manual many map mapped mapping maps mar march mark marked marks mask masklen master match max maximum maximums
maxmtu maxrate may mbc mbytes md5 mean medium mellanox mem member members memory merge merged mergeoncommit merges
mesh message messages met metadata metal method metric metrics mfg mgmt microseconds mig migrated mii miimon
miimonitorsec milliseconds min mini minimum minmtu minutes mirror misc missing mk2 mkdir mlag mld mlnx mlx mlx5
mngtmpaddr mnt mod mode model modified modprobe module modules mofed mon monday monitor more most motd mount mountaddr
mountport mountproto mounts mountvers move moves mpls mq mqueue mr mrn mroute ms msdp msg msrp mst mstp mstpinst mtu
multi multicast multipath multiple multiples must n name named names nameservers namespace namespaces namlen nat
native ndevs need needed needs negative negotiate negotiated negotiation neighbor neighbors neighbour neighbours
neither net netconf netdev netflow netif netlink netns netnsid netplan network networkctl networkd networkmanager
never new next nexthop nexthops nfs nfs4 nfsd nhg nhid ni nic nics nmcli nmconnection no noagg noarp noatime noble
nobody node nodev noexec nojsonmodel none noop nopassword noprefixroute noqueue nor normal nosuid not notconnect note
nothing notpresent nov november now np nr ns nsdelegate ntp num numa number numbers numvfs nvgre nvidia o obey object
objects observed occur oct octal octet octets october of ofa ofabuild ofctl ofed off offline ofport ok old older on
once one oneshot online onlink only open openconfig opened openflow opening openssl openvswitch operate operation
operational operator operstate operstates opt optical optics optimization option optional options or order ordered org
os osfp ospf other our ours out outbound output outs outside over overlay overridden overwrites ovs ovsdb own owned
owner owns p p11kit pa packet packets pagesize pagination pair pam parameters params parent parity parse part partial
partition partitionipu partitions partner parts passive password path paths patterns pause pbr pci pcp pcre2 pcs pd
peer pem pending per percent perf permaddr permanent permission permitted person personality pfc pfifo pfx phases phy
phys physical physportid physswitchid pid pids pim pipefs pipeline pki pkts place places plain plan plane planned
platform plugged pm pmap pod pod64 podman poe point pointopoint policer policy poll polling poplar port portfast ports
pos position positions posix possible power ppid ppp pps pre precision predicted preempt pref prefer preferred prefix
prefixlen prefsrc prepared present preserve pretty primary primaryip print printed prints prio priorities priority
priv privacy private privilege privileged privileges probability probed problem proc proceed process profile profiles
program programs prohibit promisc promiscuity promoted prompt property protect proto protobuf protocol protocols
provisioning proxy ps psn pst pstore ptmxmode ptp pts publish pure purge purged put putting pv pvlan pvst pwquality
python q qdisc qinq qlen qo qos qp qrencode qsfp queries query question queue queues quiet quit quota qx r ra rack
radius radv rails raise ramfs random range rapid rate ratelimit rb rc rdma reachability reachable reached read reading
reads ready realm realtime reapply reason receive recirc reconfigurable reconfiguring recovered recovery recreate
redhat redistribute redundancy reed reenable refuse refused register registered regular rehearsal relatime relay
release reload relocatable remain remark remedy remote remount remove removed removing rendered renderer repeated
replace replaced replica replicas replicated replication reply report request require required requirements requires
reselect reset resets resetting resgid resilient resolv resolve1 resolved resource response restart restconf restrict
resuid result retrans retransmit retries retry return revert review revision rewrite rf rhel rib ribd right ring rings
ringswnc rip risk rm rmdir rmnet rni rnic rnics ro roce rocky role rollback rom room root routable route routed router
routes routing row rows rp rpc rpcbind rpf rqpn rr rsa rsize rss rstp rsvp rsyslog rt rtr rts rule run running runs
runts rw rx rxframes rxpause rxpfc s said same sampling sat saturday saved say says sbfd sbin schedule scheduler
scontrol scope script search sec seccomp second secondary secondaryips seconds secret section secure securityfs see
seem seen sees segment segments segs self selinux send sentence sep september seq sequence serial serve server service
sess session sessions set sets setting settings settle sflow sfp sh sha256 sha512 shape shaper share shared shell shm
shorts show shown shows shutdown since single size sizes sla slave sleep slice slot slower slurm slurmctld slurmd sm
smack smi smp snmp snooping so socket sockets soft software some somebody something source spaces spanning speak
speaks spec speed speeds spelled spelling spf spine split spoof spoofchk spread sq sqd sqe squashfs squeue sr sr4
sriov srv ssh sshd ssl st stable stale stand standard standby stands start starts startup state statement states
static station statistics stats64 status statuses stay stays stdout steer step steps still stop stops storage storm
stp str stream strict string stuck sub subinterface subnet suboptions subsystem succeeded successfully such suffix
suidsgid summary sun sunday supermicro support supported supports suppress surely surroundings survey surveyed suse
suspend suspended sw swap switch switchdev switched switchport swnc swring symbol sync sys sysctl sysfs sysinit syslog
sysname system systemctl systemd sysvinit sz t table tables tablesageouts tacacs tag tagged take takes tap target tc
tclass tcp team technologies telemetry tell telnet template temporary tentative terminal terminattr terse test testing
text tgt th than that the their them then there these they thing things this those threshold thresholds through thu
thursday time timed timeo timeout timer timers times timestamp timestamps timezone tlb tls tmp tmpfs to together token
told tomahawk too tool tools toolset top topology torus tos total totalvfs tp tpid tpm2 tracefs traffic transceiver
transit transmit transport trap tree trident trixie true trunk trunking trunks trust try tsa tso tsu ttl tue tuesday
tun tunables tunnel tunnelled twice two tx txframes txpause txpfc txq txqlen txqueues type typed types u ubuntu uc
ucast ud udev udevadm udp uid uint uname unavailable unconfigured unconverted undefined under understood undo undoing
undone unexpected unicast unified unit units unix unknown unless unlimited unmanaged unplugged unreachable unset
untagged until up update upgrade uplink upperdir uptime url urpf us usage use used useful user username users uses usr
usually utc utf utility utmp uuid v vacl valid value values vanished vanishes var variable variant vcan vendor verb
verbs verdict verify vers version veth vf vfat vfinfo vfio vfs via vipu virm virt virtfn virtio virtual vl vla vlan
vlanid vlans vni vrf vrid vrrp vsctl vswitch vswitchd vtep vtp vx vxlan w wait waits wanted wantedby wants warning was
watch watchdog watching way wb wed wednesday weight well were what whatever when whenever where whether which while
who whoever whole whose why width will willing win wireguard with within without word words work workdir working would
wred write writes written wrong wsize www x x86 xcvr xdp xfs xino xkbcommon xor xrc xz y yaml yang yes yet z za
zerotouch zlib zstd ztp
"""
VOCABULARY = frozenset(_WORDS.split())
