import { Button, Checkbox, Group, NativeSelect, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take, takeTagged } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { weekdays } from "../../ui/weekdays";
import { useChannels } from "../composer/useChannels";
import { actionsOf, can } from "./actions";
import { ChangedByOther } from "./ChangedByOther";
import { covers, inForce, usualWords, wayOf, withWay, type AllHours, type Hours as Said, type Way } from "./openHours";
import { actions, type Limit } from "./limits";
import { ChangedMeanwhile, saveUnchanged } from "./saveUnchanged";
import { t } from "../../messages/accounts";

const ACCOUNT = "/api/v1/workspaces/{workspace_id}/accounts/{account_id}";

/** When each action may run, in the account's own time; what is due outside waits for the next opening. */
export function Hours({ account, mayChange }: { account: Account; mayChange: boolean }) {
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const own = actionsOf(account, useChannels());
  const kept = actions.filter(({ value }) => value !== "*" && (can(own, value) || account.hours[value] !== undefined));
  const [begun, setBegun] = useState(account.hours); // others' changes come in while one edits
  const [hours, setHours] = useState(account.hours);
  const [theirs, setTheirs] = useState<AllHours | null>(null);
  const save = useAct(
    "account",
    (start: AllHours) =>
      saveUnchanged({
        start,
        read: async () => {
          const { data, etag } = await takeTagged(api.GET(ACCOUNT, { params: { path } }));
          return { part: data.hours, etag };
        },
        write: (etag) => take(api.PATCH(ACCOUNT, { params: { path, header: { "if-match": etag } }, body: { hours } })),
      }),
    {
      done: () => t("hoursSaved"),
      after: (answer) => adopt(answer.hours),
      refused: (error) => {
        if (!(error instanceof ChangedMeanwhile)) return false;
        setTheirs(error.theirs as AllHours);
        return true;
      },
    },
  );
  const adopt = (saved: AllHours) => {
    setTheirs(null);
    setBegun(saved);
    setHours(saved);
  };
  return (
    <Stack>
      <Text size="sm">{t("timesAreInZonePostsDue", { zone: account.zone })}</Text>
      {kept.map(({ value, label }) => {
        const said = hours[value];
        return (
          <fieldset key={value} style={{ border: "none", margin: 0, padding: 0 }} disabled={!mayChange}>
            <Group gap="sm" align="flex-end">
              <NativeSelect
                w={300}
                label={label}
                value={wayOf(hours, value)}
                onChange={(event) => setHours(withWay(hours, value, event.currentTarget.value as Way))}
                data={[
                  { value: "usual", label: t("defaultHours", { hours: usualWords(account, value) }) },
                  { value: "always", label: t("anyTime") },
                  { value: "own", label: t("customHours") },
                ]}
              />
              {said !== undefined && said !== null && <OpenHours label={label} said={said} onChange={(next) => setHours({ ...hours, [value]: next })} />}
            </Group>
          </fieldset>
        );
      })}
      <HoursTable hours={hours} account={account} kept={kept} />
      {theirs !== null && <ChangedByOther title={t("someoneElseChangedTheHoursWhile")} onTheirs={() => adopt(theirs)} onMine={() => save.mutate(theirs)} />}
      {mayChange && (
        <Button w="fit-content" loading={save.isPending} onClick={() => save.mutate(begun)}>
          {t("saveHours")}
        </Button>
      )}
    </Stack>
  );
}

function OpenHours({ label, said, onChange }: { label: string; said: Said; onChange: (next: Said) => void }) {
  return (
    <Group gap="xs" mih={36}>
      <TextInput type="time" aria-label={t("labelFrom", { label })} value={said.start.slice(0, 5)} onChange={(event) => onChange({ ...said, start: event.currentTarget.value })} />
      <TextInput type="time" aria-label={t("labelUntil", { label })} value={said.end.slice(0, 5)} onChange={(event) => onChange({ ...said, end: event.currentTarget.value })} />
      <Checkbox.Group aria-label={t("labelDays", { label })} value={said.days.map(String)} onChange={(days) => onChange({ ...said, days: days.map(Number).sort() })}>
        <Group gap={8}>
          {weekdays.map(({ day, short }) => (
            <Checkbox key={day} size="xs" value={day} label={short} />
          ))}
        </Group>
      </Checkbox.Group>
    </Group>
  );
}

const cells = Array.from({ length: 24 }, (_, hour) => hour);

/** The same as a grid of the week, one action at a time: a filled cell has an open minute. */
function HoursTable({ hours, account, kept }: { hours: AllHours; account: Account; kept: typeof actions }) {
  const [chosen, setAction] = useState<Limit["action"] | null>(null);
  const action = chosen ?? kept[0]?.value ?? "post";
  const said = inForce(hours, action, account);
  const isOpen = (day: number, hour: number) => said === null || covers(said, day, hour);
  return (
    <Stack gap={4}>
      <Select label={t("showHoursFor")} w={220} allowDeselect={false} data={kept} value={action} onChange={(next) => setAction(next as Limit["action"])} />
      <Table.ScrollContainer minWidth={560}>
        <Table withTableBorder withColumnBorders fz="xs">
          <Table.Caption>{said === null ? t("openAnyTime") : t("weeklyHoursOpenClosed")}</Table.Caption>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("day")}</Table.Th>
              {cells.map((hour) => (
                <Table.Th key={hour} p={2} ta="center">
                  {hour}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {weekdays.map(({ day, short }) => (
              <Table.Tr key={day}>
                <Table.Th scope="row" p={4}>
                  {short}
                </Table.Th>
                {cells.map((hour) => {
                  const open = isOpen(Number(day), hour);
                  return (
                    <Table.Td key={hour} p={2} ta="center" bg={open ? "var(--mantine-primary-color-light)" : undefined}>
                      {open ? "●" : "·"}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}
