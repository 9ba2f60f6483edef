package io.dyber.zernel.serve.live;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ContainersTest {
    private static final String ID = "0123456789abcdef".repeat(4);
    private static final String OUTER = "fedcba9876543210".repeat(4);
    private static final String UID = "11223344-5566-7788-99aa-bbccddeeff00";

    @ParameterizedTest
    @ValueSource(strings = {
        "/docker/ID",
        "/system.slice/docker-ID.scope",
        "/machine.slice/libpod-ID.scope/container",
        "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope",
        "/kubepods/besteffort/podUID/ID",
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope",
        "/kubepods.slice/kubepods-podUID.slice/crio-ID.scope",
        "/system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID",
    })
    void everyRuntimesPathNamesItsContainer(String cgroup) {
        assertThat(Containers.container(cgroup.replace("ID", ID))).isEqualTo(ID);
    }

    @Test
    void ofContainersInsideOneAnotherItIsTheInnermost() {
        assertThat(Containers.container("/docker/" + OUTER + "/kubepods/pod" + UID + "/" + ID)).isEqualTo(ID);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/kubepods/besteffort/podUID/ID", "/kubepods.slice/kubepods-podUID.slice", "/kubelet/podUID"})
    void bothDriversOfTheKubeletNameThePod(String cgroup) {
        assertThat(Containers.pod(cgroup.replace("UID", UID))).isEqualTo(UID);
        assertThat(Containers.pod(cgroup.replace("UID", UID.replace('-', '_')))).isEqualTo(UID);
    }

    @Test
    void theUidOfAStaticPodHasNoLines() {
        assertThat(Containers.pod("/kubepods/pod" + UID.replace("-", "") + "/" + ID)).isEqualTo(UID);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/user.slice/user-1000.slice/session-3.scope", "/slurm/uid_1000/job_4711/step_0",
        "/docker/0123456789abcdef", "/tripod"})
    void otherCgroupsAreNoContainers(String cgroup) {
        assertThat(Containers.container(cgroup)).isEmpty();
        assertThat(Containers.pod(cgroup)).isEmpty();
    }
}
