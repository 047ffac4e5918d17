// The connected accounts with their health; one of them opens beside the list.
import { Badge, Button, Card, Drawer, Group, Modal, SimpleGrid, Stack, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconPlugConnected, IconPlus, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation, useNavigate, useSearchParams } from "react-router";

import { useAccounts, type Account } from "../../api/accounts";
import { useMay } from "../../api/me";
import { Empty } from "../../ui/Empty";
import { Fetched } from "../../ui/Fetched";
import { Loading } from "../../ui/Loading";
import { NetworkIcon } from "../../ui/NetworkIcon";
import { Page } from "../../ui/Page";
import { clock, placeOf } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { networkName } from "../../ui/words";
import { Brought } from "./Brought";
import { Connect } from "./Connect";
import { Detail } from "./Detail";
import { healthOf } from "./health";
import type { Connection } from "./useConnect";
import { t } from "../../messages/accounts";

const MANY = 8; // from here on a search helps

export default function Accounts() {
  const accounts = useAccounts();
  const mayConnect = useMay("admin");
  const asked = useSearchParams()[0].has("connect"); // by the button of another screen
  const [connecting, setConnecting] = useState(asked);
  const open = () => setConnecting(true);
  return (
    <Page
      title={t("accounts")}
      message={t("yourConnectedAccounts")}
      actions={
        mayConnect && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t("connectAnAccount")}
          </Button>
        )
      }
    >
      <Fetched query={accounts} loading={<Loading rows={4} />}>
        {(found) => (found.length === 0 ? <Nobody mayConnect={mayConnect} /> : <Everybody accounts={found} />)}
      </Fetched>
      {connecting && mayConnect && <Connect onClose={() => setConnecting(false)} />}
      <JustBrought />
    </Page>
  );
}

/** What the network's answer brought, when a person comes back from there (Callback.tsx). */
function JustBrought() {
  const connection = (useLocation().state as { connection?: Connection } | null)?.connection;
  const go = useNavigate();
  if (connection === undefined) return null;
  const done = () => void go(".", { replace: true, state: null });
  return (
    <Modal opened onClose={done} title={t("connected")} size="lg">
      <Brought connection={connection} onDone={done} />
    </Modal>
  );
}

function Nobody({ mayConnect }: { mayConnect: boolean }) {
  return (
    <Empty icon={IconPlugConnected} title={t("noAccountYet")}>
      {mayConnect ? t("connectYourFirstOneItTakes") : t("askAWorkspaceAdminToConnect")}
    </Empty>
  );
}

function Everybody({ accounts }: { accounts: Account[] }) {
  const [search, setSearch] = useSearchParams();
  const [wanted, setWanted] = useState("");
  const chosen = accounts.find(({ id }) => id === search.get("account"));
  const choose = (id: string | null) =>
    setSearch((old) => {
      if (id === null) old.delete("account");
      else old.set("account", id);
      return old;
    });
  const words = wanted.toLowerCase().split(/\s+/);
  const shown = accounts.filter((each) => {
    const text = `${each.handle} ${each.name ?? ""} ${networkName(each.provider)} ${healthOf(each).message}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <Stack>
      {accounts.length >= MANY && (
        <TextInput
          aria-label={t("searchAccounts")}
          placeholder={t("searchByNameNetworkOrStatus")}
          leftSection={<IconSearch size={16} aria-hidden />}
          maw={360}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {shown.map((account) => (
          <AccountCard key={account.id} account={account} onOpen={() => choose(account.id)} />
        ))}
      </SimpleGrid>
      {shown.length === 0 && <Text c="dimmed">{t("noMatchingAccount")}</Text>}
      <Drawer opened={chosen !== undefined} onClose={() => choose(null)} position="right" size="xl" title={chosen?.handle}>
        {chosen !== undefined && <Detail key={chosen.id} account={chosen} onGone={() => choose(null)} />}
      </Drawer>
    </Stack>
  );
}

function AccountCard({ account, onOpen }: { account: Account; onOpen: () => void }) {
  const now = useNow();
  const health = healthOf(account, now);
  return (
    <UnstyledButton onClick={onOpen}>
      <Card withBorder h="100%" padding="md">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Group gap="sm" wrap="nowrap" align="flex-start" miw={0}>
            <NetworkIcon of={account.provider} size={24} />
            <div style={{ minWidth: 0 }}>
              <Text fw={650} truncate>
                {account.handle}
              </Text>
              <Text size="sm" c="dimmed">
                {networkName(account.provider)} · {placeOf(account.zone)} {clock(now, account.zone)}
              </Text>
            </div>
          </Group>
          <Badge variant="outline" color={health.colour} style={{ flex: "none" }}>
            {health.message}
          </Badge>
        </Group>
        {health.more !== null && (
          <Text size="sm" mt="xs">
            {health.more}
          </Text>
        )}
      </Card>
    </UnstyledButton>
  );
}
