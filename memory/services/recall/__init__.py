"""What a run is given: the lessons most like its goal, their evidence, the rules behind them."""
