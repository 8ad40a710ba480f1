from glasshouse.contests.tournament import MatchPlayed as MatchPlayed
from glasshouse.contests.tournament import Tournament as Tournament
from glasshouse.turns.contests.referees import Match as Match
from glasshouse.turns.contests.referees import Ruling as Ruling
from glasshouse.views.leaderboard import Standing as Standing
