// The frame around every screen: navigation, the workspace, oneself, and a word when the line is down.
import { ActionIcon, Alert, Anchor, AppShell, Badge, Burger, Group, Menu, NavLink, Select, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconLogout, IconPlayerPause, IconPlugConnectedX, IconPlus, IconUser } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";
import { NavLink as RouterLink, Outlet, useLocation, useNavigate } from "react-router";

import { api, take } from "../api/client";
import { useLive } from "../api/live";
import { meQuery, useMay, useMe, useWorkspaceId } from "../api/me";
import { onSessionEnd } from "../api/session";
import { Loading } from "../ui/Loading";
import { tellProblem } from "../ui/tell";
import { ColourChoice } from "./ColourChoice";
import { NewWorkspace } from "./NewWorkspace";
import { screenGroups, type Screen } from "./screens";
import { t } from "../messages/app";

export function Shell() {
  const workspaceId = useWorkspaceId();
  const [opened, { toggle, close }] = useDisclosure();
  const connected = useLive(workspaceId);
  useSessionEnd();
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: "sm", collapsed: { mobile: !opened } }}
      padding={{ base: "xs", sm: "md" }}
    >
      <a className="skip-link" href="#main">
        {t("skipToContent")}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t("menu")} />
            <Text fw={700} visibleFrom="xs">
              Cadenza
            </Text>
            <WorkspaceChoice workspaceId={workspaceId} />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColourChoice />
            <Oneself />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={t("mainMenu")} style={{ overflowY: "auto" }}>
        <Screens workspaceId={workspaceId} onChosen={close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        {!connected && (
          <Alert role="status" color="yellow" mb="md" icon={<IconPlugConnectedX aria-hidden />} title={t("youreOffline")}>
            {t("connectionLostReconnectingThisPage")}
          </Alert>
        )}
        <SendingHeld workspaceId={workspaceId} />
        <Suspense fallback={<Loading />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
    </AppShell>
  );
}

/** On every screen, while nothing is sent until an owner of the installation has confirmed. */
function SendingHeld({ workspaceId }: { workspaceId: string }) {
  const { sending_held: why, instance_owner: owner } = useMe();
  const { pathname } = useLocation();
  useQuery({ ...meQuery, refetchInterval: why === null ? false : 10_000 }); // no event says that somebody confirmed
  const system = `/w/${workspaceId}/system`;
  if (why === null || pathname.startsWith(system)) return null; // that screen says it in full
  return (
    <Alert role="status" color="red" mb="md" icon={<IconPlayerPause aria-hidden />} title={t("sendingIsOnHold")}>
      {t("nothingIsBeingSentBecauseWhy", { why })}{" "}
      {owner ? (
        <Anchor component={RouterLink} to={system}>
          {t("checkAndResumeSending")}
        </Anchor>
      ) : (
        t("someoneWhoRunsThisServerNeeds")
      )}
    </Alert>
  );
}

/** A session that ends while somebody works leads to the door, and from there back to where they were. */
function useSessionEnd() {
  const go = useNavigate();
  const { pathname, search } = useLocation();
  useEffect(
    () => onSessionEnd(() => void go(`/sign-in?next=${encodeURIComponent(pathname + search)}`)),
    [go, pathname, search],
  );
}

function Screens({ workspaceId, onChosen }: { workspaceId: string; onChosen: () => void }) {
  const { instance_owner } = useMe();
  const editor = useMay("editor");
  return screenGroups.map(({ name, screens }, at) => (
    <div key={at} className="screen-group" role={name === undefined ? undefined : "group"} aria-label={name}>
      {name !== undefined && (
        <Text size="xs" fw={650} c="dimmed" px="sm" pb={2} aria-hidden>
          {name}
        </Text>
      )}
      {screens
        .filter(({ instance, editors }) => (instance !== true || instance_owner) && (editors !== true || editor))
        .map((screen) => (
          <ScreenLink key={screen.path} screen={screen} workspaceId={workspaceId} onChosen={onChosen} />
        ))}
    </div>
  ));
}

const noBadge = () => undefined;

function ScreenLink({ screen, workspaceId, onChosen }: { screen: Screen; workspaceId: string; onChosen: () => void }) {
  const { pathname } = useLocation();
  const { path, name, icon: Icon, badge: useBadge = noBadge } = screen; // of a constant list: the same hook each time
  const waiting = useBadge() ?? 0;
  const to = `/w/${workspaceId}/${path}`;
  return (
    <NavLink
      component={RouterLink}
      to={to}
      label={name}
      noWrap
      py={5}
      leftSection={<Icon size={18} aria-hidden />}
      rightSection={
        waiting > 0 && (
          <Badge size="sm" variant="filled" color="dark" aria-label={t("waitingWaiting", { waiting })}>
            {waiting > 99 ? "99+" : waiting}
          </Badge>
        )
      }
      active={pathname === to || pathname.startsWith(`${to}/`)}
      onClick={onChosen}
    />
  );
}

function WorkspaceChoice({ workspaceId }: { workspaceId: string }) {
  const me = useMe();
  const go = useNavigate();
  const [creating, { open, close }] = useDisclosure();
  return (
    <Group gap={4} wrap="nowrap">
      <Select
        aria-label={t("workspace")}
        size="xs"
        w={190}
        allowDeselect={false}
        value={workspaceId}
        data={me.workspaces.map(({ workspace_id, name }) => ({ value: workspace_id, label: name }))}
        onChange={(chosen) => chosen !== null && void go(`/w/${chosen}`)}
      />
      <Tooltip label={t("newWorkspace")}>
        <ActionIcon variant="subtle" color="gray" aria-label={t("newWorkspace")} onClick={open}>
          <IconPlus size={18} />
        </ActionIcon>
      </Tooltip>
      {creating && <NewWorkspace onClose={close} />}
    </Group>
  );
}

function Oneself() {
  const me = useMe();
  const go = useNavigate();
  const queries = useQueryClient();
  const leave = async () => {
    try {
      await take(api.POST("/api/v1/auth/sign-out"));
      queries.clear();
      await go("/sign-in");
    } catch (error) {
      tellProblem(error);
    }
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t("nameAccountMenu", { name: me.name })}>
          <IconUser size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.name} · {me.email}
        </Menu.Label>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void leave()}>
          {t("signOut")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
