"""Ada's workspace with two accounts, a brand, a category and a pool, on both databases."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest

from cadenza.core.clock import SystemClock
from cadenza.db.open import open_product
from cadenza.deliveries.init_account import init_account
from cadenza.drafts.asset_pool import save_pool
from cadenza.drafts.generate import Generated, NotGenerated, generate
from cadenza.drafts.model import Category, NoSuchRule, Rule, drafts_locks
from cadenza.drafts.save_category import CategoryForm, save_category
from cadenza.drafts.save_rule import RuleForm, RuleSaved, create_rule, edit_rule
from cadenza.sql.transactions import Operations
from cadenza.sql.tx import Row, Tx

HOME = "ada-and-friends"
ADA = "member:ada"
MONDAY = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)  # 09:00 in Berlin
WEEKLY = {"kind": "weekly", "weekdays": [1, 4], "times": ["12:00"]}

T = TypeVar("T")


@dataclass
class Studio:
    """What Ada does with rules, at an instant of the test's choosing."""

    operations: Operations
    now: datetime = MONDAY
    category: str = ""
    brand: str = ""
    rules: list[str] = field(default_factory=list[str])

    async def do(self, act: Callable[[Tx, datetime], T], workspace: str = HOME) -> T:
        now = self.now
        return await self.operations.run(lambda tx, _: act(tx, now), locks=drafts_locks(workspace))

    async def connect(self, account: str, provider: str = "simulated") -> None:
        def add(tx: Tx, now: datetime) -> None:
            tx.run(
                """
                INSERT INTO account (workspace_id, id, provider, remote_id, zone, created_at)
                VALUES (:home, :id, :provider, :id, 'Europe/Berlin', :now)
                """,
                home=HOME,
                id=account,
                provider=provider,
                now=now,
            )
            init_account(tx, now, workspace_id=HOME, account_id=account)

        await self.do(add)

    async def upload(self, *names: str) -> None:
        await self.do(
            lambda tx, now: tx.run(
                """
                INSERT INTO media (workspace_id, id, file, kind, mime, size, sha256, name, created_at,
                    created_by, stored_at)
                SELECT :home, new.id, new.id, 'image', 'image/png', 1, new.id, new.id, :now, 'member:ada', :now
                FROM TABLE(:names) AS new (id text)
                """,
                home=HOME,
                now=now,
                names=[(name,) for name in names],
            )
        )

    async def fill_pool(self, *names: str, category: str | None = None) -> None:
        await self.upload(*names)
        await self.set_pool(*names, category=category)

    async def set_pool(self, *names: str, category: str | None = None) -> None:
        await self.do(
            lambda tx, now: save_pool(
                tx,
                now,
                workspace_id=HOME,
                category_id=category or self.category,
                media_ids=names,
                by=ADA,
            )
        )

    async def name_category(self, form: CategoryForm, id: str | None = None) -> Category:
        saved = await self.do(
            lambda tx, now: save_category(tx, now, form, workspace_id=HOME, by=ADA, id=id)
        )
        assert isinstance(saved, Category), saved
        return saved

    def form(self, **changes: Any) -> RuleForm:
        said: dict[str, Any] = {
            "name": "Tips",
            "category_id": self.category,
            "pattern": WEEKLY,
            "zone": "Europe/Berlin",
            "starts": "2026-11-01",
            "targets": [("ada", "mastodon"), ("ben", "mastodon")],
        }
        return RuleForm(**{**said, **changes})

    async def rule(self, **changes: Any) -> Rule:
        form = self.form(**changes)
        kept = await self.do(lambda tx, now: create_rule(tx, now, form, workspace_id=HOME, by=ADA))
        assert isinstance(kept, RuleSaved), kept
        self.rules.append(kept.rule.id)
        return kept.rule

    async def edit(self, rule: str, *, dry_run: bool = False, **changes: Any) -> RuleSaved:
        form = self.form(**changes)
        kept = await self.do(
            lambda tx, now: edit_rule(
                tx, now, form, workspace_id=HOME, id=rule, by=ADA, dry_run=dry_run
            )
        )
        assert isinstance(kept, RuleSaved), kept
        return kept

    async def generate(self, rule: str) -> Generated | NotGenerated | NoSuchRule:
        return await self.do(lambda tx, now: generate(tx, now, workspace_id=HOME, rule_id=rule))

    async def fill(self, rule: str) -> list[str]:
        """Generate until nothing is left; return the posts made."""
        posts: list[str] = []
        while True:
            made = await self.generate(rule)
            assert isinstance(made, Generated), made
            posts += made.posts
            if not made.left:
                return posts

    async def rows(self, sql: str, **params: Any) -> list[Row]:
        return await self.operations.read(lambda tx, _: tx.all(sql, **params))

    async def change(self, sql: str, **params: Any) -> None:
        await self.do(lambda tx, _: tx.run(sql, **params))

    async def deliveries(self, post: str | None = None) -> Sequence[Row]:
        rows = await self.rows("SELECT * FROM delivery ORDER BY due_at, account_id, channel")
        return [row for row in rows if post is None or row["post_id"] == post]

    async def times(self) -> list[str]:
        """When live posts are due, on Berlin's winter clock."""
        rows = await self.rows(
            """
            SELECT DISTINCT delivery.due_at FROM delivery JOIN post ON post.id = delivery.post_id
            WHERE state NOT IN ('canceled', 'skipped') AND post.deleted_at IS NULL ORDER BY 1
            """
        )
        return [f"{row['due_at'] + timedelta(hours=1):%d.%m. %H:%M}" for row in rows]


@pytest.fixture
async def studio(database: str) -> AsyncIterator[Studio]:
    async with open_product(database, clock=SystemClock()) as operations:
        studio = Studio(operations)
        await studio.change(
            """
            INSERT INTO workspace (id, name, zone, created_at)
            VALUES (:id, 'Ada', 'Europe/Berlin', :now)
            """,
            id=HOME,
            now=MONDAY,
        )
        await studio.connect("ada")
        await studio.connect("ben")
        brand = await studio.name_category(CategoryForm(name="Bakery", hashtags=["bread"]))
        tips = CategoryForm(
            name="Tips",
            parent_id=brand.id,
            hashtags=["tips"],
            copy="{{weekday}}'s tip from {{brand}}: {{thing}}",
            variables={"thing": "rest the dough"},
        )
        studio.brand, studio.category = brand.id, (await studio.name_category(tips)).id
        yield studio
