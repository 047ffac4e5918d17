import { ActionIcon, Alert, Button, Group, NumberInput, Progress, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, takeTagged, type Schemas } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { Fetched } from "../../ui/Fetched";
import { ChangedByOther } from "./ChangedByOther";
import { actionName, actions, faultOf, kinds, limitWords, type Limit } from "./limits";
import { ChangedMeanwhile, saveUnchanged } from "./saveUnchanged";
import { useAccountUse } from "./useAccountUse";
import { t } from "../../messages/accounts";

const LIMITS = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}/limits";

/** What the account may do at most, and how much of it is used. */
export function Limits({ account, mayChange }: { account: Account; mayChange: boolean }) {
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const [editing, setEditing] = useState(false);
  const limits = useQuery({
    queryKey: [path.workspace_id, "limits", account.id],
    queryFn: () => take(api.GET(LIMITS, { params: { path } })),
  });
  return (
    <Fetched query={limits} rows={3}>
      {(found) =>
        editing ? (
          <Editor account={account} start={found.limits} onDone={() => setEditing(false)} />
        ) : (
          <Stack>
            <Uses account={account} />
            {mayChange && (
              <Button w="fit-content" variant="default" onClick={() => setEditing(true)}>
                {t("editLimits")}
              </Button>
            )}
          </Stack>
        )
      }
    </Fetched>
  );
}

type Use = Schemas["AccountUseView"]["uses"][number];
const writes = ["smtp", "google_mail", "microsoft_mail", "unipile", "telegram_person"]; // networks on which people are written to, one by one

/** What counts for this account first; limits of what its network does not do are folded away. */
function Uses({ account }: { account: Account }) {
  const use = useAccountUse(account.id);
  const [more, { toggle }] = useDisclosure();
  return (
    <Fetched query={use} rows={2}>
      {({ uses }) => {
        const counts = ({ limit, used }: Use) => writes.includes(account.provider) || limit.action === "post" || limit.action === "*" || (used ?? 0) > 0;
        const [own, others] = [uses.filter(counts), uses.filter((each) => !counts(each))];
        return (
          <Stack>
            {own.length === 0 ? <Text size="sm">{t("noCustomLimitsOnlyTheNetworks")}</Text> : <UseList uses={own} />}
            {others.length > 0 && (
              <Button w="fit-content" size="compact-sm" variant="subtle" aria-expanded={more} onClick={toggle}>
                {more ? t("hideMessageLimits", { limits: others.length }) : t("showMessageLimits", { limits: others.length })}
              </Button>
            )}
            {more && <UseList uses={others} />}
          </Stack>
        );
      }}
    </Fetched>
  );
}

function UseList({ uses }: { uses: Use[] }) {
  return (
    <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: "none" }}>
      {uses.map(({ limit, used }) => {
        const name = `${actionName(limit.action)}: ${limitWords(limit)}`;
        const full = used !== null && used >= limit.amount;
        return (
          <li key={`${limit.action} ${limit.kind}`}>
            <Group justify="space-between">
              <Text size="sm">{name}</Text>
              {used !== null && (
                <Text size="sm" fw={600}>
                  {t("limitUsed", { used, amount: limit.amount, full: full ? "yes" : "no" })}
                </Text>
              )}
            </Group>
            {used !== null && (
              <Progress aria-label={t("nameUsed", { name })} value={limit.amount === 0 ? 100 : Math.min(100, (used / limit.amount) * 100)} color={full ? "orange" : "indigo"} />
            )}
          </li>
        );
      })}
    </Stack>
  );
}

function Editor({ account, start, onDone }: { account: Account; start: Limit[]; onDone: () => void }) {
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const [begun] = useState(start); // others' changes come in while one edits
  const [limits, setLimits] = useState(start);
  const [theirs, setTheirs] = useState<Limit[] | null>(null);
  const save = useAct(
    "limit",
    (before: Limit[]) =>
      saveUnchanged({
        start: before,
        read: async () => {
          const { data, etag } = await takeTagged(api.GET(LIMITS, { params: { path } }));
          return { part: data.limits, etag };
        },
        write: (etag) => take(api.PUT(LIMITS, { params: { path, header: { "if-match": etag } }, body: { limits } })),
      }),
    {
      done: () => t("limitsSaved"),
      after: onDone,
      refused: (error) => {
        if (!(error instanceof ChangedMeanwhile)) return false;
        setTheirs(error.theirs as Limit[]);
        return true;
      },
    },
  );
  const change = (index: number, part: Partial<Limit>) =>
    setLimits((now) => now.map((each, at) => (at === index ? { ...each, ...part } : each)));
  const fault = faultOf(limits);
  return (
    <Stack>
      {limits.map((limit, index) => (
        <Group key={index} gap="xs" align="flex-end">
          <Select
            label={t("type")}
            w={190}
            allowDeselect={false}
            data={actions}
            value={limit.action}
            onChange={(action) => change(index, { action: action as Limit["action"] })}
          />
          <NumberInput label={limit.kind === "gap" ? t("atLeast") : t("atMostLabel")} w={100} min={0} max={1_000_000} allowDecimal={false} value={limit.amount} onChange={(said) => change(index, { amount: Number(said) || 0 })} />
          <Select
            label={t("per")}
            w={150}
            allowDeselect={false}
            data={kinds}
            value={limit.kind}
            onChange={(kind) => change(index, { kind: kind as Limit["kind"], per_seconds: kind === "rate" ? 1 : null })}
          />
          {limit.kind === "rate" && (
            <NumberInput label={t("seconds")} w={90} min={1} max={86_400} value={limit.per_seconds ?? 1} onChange={(said) => change(index, { per_seconds: Number(said) || 1 })} />
          )}
          <ActionIcon
            size={36}
            variant="subtle"
            color="gray"
            aria-label={t("removeLimitLimit", { limit: limitWords(limit) })}
            onClick={() => setLimits((now) => now.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Button
        w="fit-content"
        variant="light"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => setLimits((now) => [...now, { action: "post", kind: "day", amount: 10, per_seconds: null }])}
      >
        {t("addLimit")}
      </Button>
      {fault !== null && <Alert color="orange">{fault}</Alert>}
      {theirs !== null && <ChangedByOther title={t("someoneElseChangedTheLimitsWhile")} onTheirs={onDone} onMine={() => save.mutate(theirs)} />}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          {t("cancel")}
        </Button>
        <Button disabled={fault !== null} loading={save.isPending} onClick={() => save.mutate(begun)}>
          {t("saveLimits")}
        </Button>
      </Group>
    </Stack>
  );
}
